import type { LanguageModel } from 'ai';
import type { AgentDefinition } from '../../agents/index.js';
import { defineAgent } from '../../extensions/agents.js';

interface LibrarianEnvironment {
  /** File of the installed package `@modelcontextprotocol/server-filesystem`: its `dist/index.js`. */
  FILES_SERVER: string;
  /** The only folder that the agent can read and write. */
  FILES_FOLDER: string;
  /** URL and token of a company's server; without them the agent has only the files. */
  DOCS_URL?: string;
  DOCS_TOKEN?: string;
}

/**
 * Creates an agent with tools of two MCP servers: a program next to the worker, and an HTTP service. It reads
 * files freely and asks a person before it changes one.
 */
export function createLibrarian(model: LanguageModel, env: LibrarianEnvironment): AgentDefinition {
  const { DOCS_URL, DOCS_TOKEN = '' } = env;
  return defineAgent({
    name: 'librarian',
    systemPrompt: 'You keep a folder of notes in order.',
    llmConfig: { model },
    mcpServers: {
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
    },
  });
}
