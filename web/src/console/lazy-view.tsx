import { lazy, type ComponentType, type LazyExoticComponent, type ReactElement } from 'react';

/** Loads the code of a view or dialog when it is first shown, so that the list of questions opens fast. */
export function lazyView<Props>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await load().catch(() => Outdated) }));
}

/** Shown if code cannot be loaded: the server has another release or is away, so the page must be reloaded. */
function Outdated(): ReactElement {
  return (
    <p className="error-line" role="alert" data-testid="problem">
      This view could not be loaded.{' '}
      <button type="button" onClick={() => location.reload()}>
        Load the console again
      </button>
    </p>
  );
}
