import { lazy, type ComponentType, type LazyExoticComponent, type ReactElement } from 'react';

/** A view or dialog whose code is loaded when it is first shown, so that the console begins with what waits. */
export function lazyView<Props>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await load().catch(() => Outdated) }));
}

/** The server has another release than this page, or cannot be reached: either way the page has to be loaded again. */
function Outdated(): ReactElement {
  return (
    <p className="error-line" role="alert" data-testid="problem">
      This view could not be loaded.{' '}
      <button
        type="button"
        onClick={() => {
          location.reload();
        }}
      >
        Load the console again
      </button>
    </p>
  );
}
