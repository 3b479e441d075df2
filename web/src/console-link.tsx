import type { ReactElement } from 'react';
import type { PageConfig } from './api-client.js';
import { BASE } from './console/place.js';
import { mayAs } from './console/roles.js';

/** The way to the console, for those to whom it shows something. */
export function ConsoleLink({ roles }: Pick<PageConfig, 'roles'>): ReactElement | null {
  if (!mayAs(roles, 'viewer')) return null;
  return (
    <a className="run-link" data-testid="to-console" href={BASE}>
      Console
    </a>
  );
}
