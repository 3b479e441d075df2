import { openDocument } from './open-document.js';
import { createElement, StrictMode, useEffect } from 'react';
import { createRoot, type Root } from 'react-dom/client';

export interface RenderedHook<P, R> {
  /** Result of the hook in the newest committed render. */
  readonly current: R;
  render: (props: P) => void;
  unmount: () => void;
}

/** Renders a hook by real React without `act`, so its work takes as long as in a page. */
export function renderHook<P, R>(
  useHook: (props: P) => R,
  props: P,
  options: { isStrict?: boolean } = {},
): RenderedHook<P, R> {
  const { document } = openDocument();
  let shown: { result: R } | undefined;
  const Host = ({ props }: { props: P }): null => {
    const result = useHook(props);
    useEffect(() => {
      shown = { result };
    });
    return null;
  };
  const root: Root = createRoot(document.createElement('div') as unknown as HTMLElement);
  const unmount = (): void => {
    root.unmount();
  };
  atEndOfFile(unmount);
  const render = (props: P): void => {
    const host = createElement(Host, { props });
    root.render(options.isStrict === true ? createElement(StrictMode, null, host) : host);
  };
  render(props);
  return {
    get current() {
      if (shown === undefined) throw new Error('the hook is not shown yet');
      return shown.result;
    },
    render,
    unmount,
  };
}

/** Resolves when React has committed the hook. */
export async function untilShown<P, R>(hook: RenderedHook<P, R>): Promise<R> {
  for (;;) {
    try {
      return hook.current;
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
