import { z } from 'zod';
import {
  Callback,
  Duration,
  Flag,
  isFunction,
  isTexts,
  must,
  settings,
  Text,
} from '../../agents/index.js';

/**
 * Servers of the Model Context Protocol whose tools an agent uses, by name. The name is the beginning of
 * their tools' names: `search` of the server `docs` is `docs_search`.
 */
export type McpServers = Readonly<Record<string, McpServer>>;

export type McpServer = StdioMcpServer | HttpMcpServer;

/**
 * Which of a server's tools the agent has, and which of them a person must agree to. A tool that no
 * list names is executed at once if the server calls it read-only, and needs approval otherwise. A
 * name decides before `'*'`, which stands for every other tool; then `deny` before `approve` before
 * `allow`.
 */
interface McpServerSettings {
  /** Executed without asking anybody. */
  readonly allow?: readonly string[];
  /** Executed when a person has agreed. */
  readonly approve?: readonly string[];
  /** Not offered to the model. */
  readonly deny?: readonly string[];
  /**
   * Safe to run again when a worker died in the middle of it, beside those for which the server says
   * so. A call of any other tool is then settled as `tool_outcome_unknown`.
   */
  readonly idempotent?: readonly string[];
  /** Who may approve, as of a tool. */
  readonly approvers?: readonly ('approver' | 'operator')[];
  readonly separateApprover?: boolean;
  /** How long an approval waits for its answer, in ms. Default: no limit. */
  readonly deadlineMs?: number;
  /** True if runs begin without the tools of a server that cannot be reached. Default: they fail. */
  readonly optional?: boolean;
  /** How long connecting may take, and listing its tools likewise, in ms. Default: 10 s. */
  readonly connectTimeoutMs?: number;
  /** How long a call may take, in ms. Default: 60 s. */
  readonly callTimeoutMs?: number;
}

/** A program that a worker starts, and talks to on its standard input and output. */
export interface StdioMcpServer extends McpServerSettings {
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside `PATH`, `HOME` and the like; nothing else of the worker's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that is reached by streamable HTTP. */
export interface HttpMcpServer extends McpServerSettings {
  readonly url: string;
  /** Sent to the origin of `url` only; a function is called for each request. */
  readonly headers?: McpHeaders | (() => McpHeaders | Promise<McpHeaders>);
  /** An `OAuthClientProvider` of `@modelcontextprotocol/sdk`. */
  readonly authProvider?: McpAuthProvider;
  /**
   * True if `url` may lead to an address of a private network. Without it only public addresses are
   * connected to, `localhost` and addresses that `url` itself consists of. Default: false.
   */
  readonly privateNetwork?: boolean;
  /** Hosts, `auth.internal:8443`, that signing in may contact although they are not public. */
  readonly allowedHosts?: readonly string[];
}

export type McpHeaders = Readonly<Record<string, string>>;

/** What every `OAuthClientProvider` has. */
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

/** Short, since the names of tools begin with it, and all that a provider accepts. */
const SERVER_NAME = /^[A-Za-z0-9-]{1,24}$/;

/** What `mcpServers` accepts. */
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHttp(value: unknown): boolean {
  return (
    typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
  );
}
