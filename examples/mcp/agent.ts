import type { LanguageModel } from 'ai';
import { defineAgent, type AgentDefinition } from '../../agents/index.js';
import { mcpServers } from '../../extensions/mcp/index.js';

interface LibrarianEnvironment {
  /** File of the installed package `@modelcontextprotocol/server-filesystem`: its `dist/index.js`. */
  FILES_SERVER: string;
  /** The only folder that the agent can read and write. */
  FILES_FOLDER: string;
  /** A server of your company, with its token; without them the agent has the files only. */
  DOCS_URL?: string;
  DOCS_TOKEN?: string;
}

/**
 * An agent whose tools come from servers of the Model Context Protocol: a program beside the worker, and
 * a service by HTTP. It reads files at once, and asks a person before it changes one.
 */
export function createLibrarian(model: LanguageModel, env: LibrarianEnvironment): AgentDefinition {
  const { DOCS_URL, DOCS_TOKEN = '' } = env;
  return defineAgent({
    name: 'librarian',
    systemPrompt: 'You keep a folder of notes in order.',
    llmConfig: { model },
    toolSources: [
      mcpServers({
        files: {
          command: process.execPath,
          args: [env.FILES_SERVER, env.FILES_FOLDER],
          deny: ['move_file'],
          approve: ['write_file', 'edit_file'],
        },
        ...(DOCS_URL !== undefined && {
          docs: {
            url: DOCS_URL,
            headers: () => ({ authorization: `Bearer ${DOCS_TOKEN}` }),
            optional: true,
          },
        }),
      }),
    ],
  });
}
