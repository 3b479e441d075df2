import { pathToFileURL } from 'node:url';
import { installClients } from '../../../scripts/clients/client-versions.mjs';
import type { ChatLibrary } from '../../support/stock-chat.js';

/** The `ai` package of one version, if it could be had. */
export interface ClientLibrary {
  name: string;
  library?: ChatLibrary;
}

/** The client code of every version that the project is for, oldest first. */
export async function loadClientLibraries(): Promise<ClientLibrary[]> {
  const clients = await installClients();
  return Promise.all(
    clients.map(async ({ name, entry }) => {
      if (entry === undefined) return { name };
      const { ai } = (await import(pathToFileURL(entry).href)) as { ai: ChatLibrary };
      return { name, library: ai };
    }),
  );
}
