import { z } from 'zod';
import {
  Callback,
  Duration,
  Flag,
  isFunction,
  isObject,
  isTexts,
  must,
  settings,
  Text,
} from '../../agents/index.js';

/**
 * MCP servers whose tools an agent uses, by name. The server's name prefixes the tools' names: `search` of
 * the server `docs` becomes `docs_search`.
 */
export type McpServers = Readonly<Record<string, McpServer>>;

export type McpServer = StdioMcpServer | HttpMcpServer;

/**
 * Permissions and limits of a server's tools. A tool that no list names runs at once if the server calls
 * it read-only, and needs approval otherwise. `'*'` stands for every tool that no list names; of several
 * lists with the same name, `deny` wins over `approve`, and `approve` over `allow`.
 */
interface McpServerSettings {
  /** Tools that run without an approval. */
  readonly allow?: readonly string[];
  /** Tools that run after a person's approval. */
  readonly approve?: readonly string[];
  /** Tools hidden from the model. */
  readonly deny?: readonly string[];
  /**
   * Tools that are safe to run again after a worker died in the middle of a call, in addition to those that
   * the server calls idempotent. A lost call of any other tool is settled as `tool_outcome_unknown`.
   */
  readonly idempotent?: readonly string[];
  /** Roles that may approve, as for other tools. */
  readonly approvers?: readonly ('approver' | 'operator')[];
  readonly separateApprover?: boolean;
  /** Time limit of an approval, ms. Default: no limit. */
  readonly deadlineMs?: number;
  /** True if runs begin without the tools of a server that cannot be reached. Default: they fail. */
  readonly optional?: boolean;
  /** Time limit for connecting, and again for listing tools, ms. Default: 10 s. */
  readonly connectTimeoutMs?: number;
  /** Time limit of a call, ms. Default: 60 s. */
  readonly callTimeoutMs?: number;
}

/** A program that a worker starts and talks to over standard input and output. */
export interface StdioMcpServer extends McpServerSettings {
  readonly command: string;
  readonly args?: readonly string[];
  /** Environment variables in addition to `PATH`, `HOME` and the like; no others are inherited from the worker. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that is reached by streamable HTTP. */
export interface HttpMcpServer extends McpServerSettings {
  readonly url: string;
  /** Headers, sent only to the origin of `url`. A function is called for each request. */
  readonly headers?: McpHeaders | (() => McpHeaders | Promise<McpHeaders>);
  /** An `OAuthClientProvider` of `@modelcontextprotocol/sdk`. */
  readonly authProvider?: McpAuthProvider;
  /**
   * True if `url` may resolve to an address of a private network. Otherwise only public addresses, `localhost`
   * and an IP address literal in `url` are permitted. Default: false.
   */
  readonly privateNetwork?: boolean;
  /** Private hosts that sign-in may contact, such as `auth.internal:8443`. */
  readonly allowedHosts?: readonly string[];
}

export type McpHeaders = Readonly<Record<string, string>>;

/** The members of every `OAuthClientProvider`. */
export interface McpAuthProvider {
  readonly tokens: () => unknown;
  readonly redirectToAuthorization: (url: URL) => unknown;
}

const Names = must('a list of names of tools', isTexts);
const TextByName = must(
  'an object of texts by name',
  (value) => isObject(value) && isTexts(Object.values(value)),
);

const common = {
  allow: Names.optional(),
  approve: Names.optional(),
  deny: Names.optional(),
  idempotent: Names.optional(),
  approvers: must(
    `a list of the roles 'approver' and 'operator'`,
    (value) =>
      isTexts(value) &&
      value.length > 0 &&
      value.every((role) => role === 'approver' || role === 'operator'),
  ).optional(),
  separateApprover: Flag.optional(),
  deadlineMs: Duration.optional(),
  optional: Flag.optional(),
  connectTimeoutMs: Duration.optional(),
  callTimeoutMs: Duration.optional(),
};

const Stdio = settings({
  ...common,
  command: must('the name of a program', (value) => typeof value === 'string' && value !== ''),
  args: must('a list of texts', isTexts).optional(),
  env: TextByName.optional(),
  cwd: Text.optional(),
});

const Http = settings(
  {
    ...common,
    url: must('an address that begins with http: or https:', isHttp),
    headers: must(
      'an object of texts by name, or a function that returns it',
      (value) => isFunction(value) || (isObject(value) && isTexts(Object.values(value))),
    ).optional(),
    authProvider: z.looseObject({ tokens: Callback, redirectToAuthorization: Callback }).optional(),
    privateNetwork: Flag.optional(),
    allowedHosts: must('a list of hosts', isTexts).optional(),
  },
  { auth: 'authProvider', token: 'headers', type: 'url' },
);

/** Server names prefix tool names, so they are short and use only characters that providers accept. */
const SERVER_NAME = /^[A-Za-z0-9-]{1,24}$/;

export const ServersByName = z
  .custom<Record<string, unknown>>(isObject, { error: 'must be an object of servers by name' })
  .superRefine((servers, context) => {
    for (const [name, server] of Object.entries(servers)) {
      if (!SERVER_NAME.test(name)) {
        const message = 'must be named by 1 to 24 letters, digits or "-"';
        context.addIssue({ code: 'custom', path: [name], message });
        continue;
      }
      const schema = isObject(server) && 'command' in server ? Stdio : Http;
      for (const { path, message } of schema.safeParse(server).error?.issues ?? []) {
        context.addIssue({ code: 'custom', path: [name, ...path], message });
      }
    }
  });

export const McpField = z.object({ mcpServers: ServersByName });

function isHttp(value: unknown): boolean {
  return (
    typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
  );
}
