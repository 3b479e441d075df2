/**
 * Who acts, and the way the act came. Types and plain constants only, since workflow code imports
 * this file.
 */

/**
 * What a caller may do with conversations of others, within the own tenant: `viewer` reads,
 * `approver` also answers what waits, `operator` also stops, resumes and repeats runs.
 */
export const ROLES = ['viewer', 'approver', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The way an act came: from a chat page, the console, the command line, an MCP client, a program
 * that speaks HTTP, a signed link, an update or signal in Temporal, or by a rule without a person.
 */
export const CHANNELS = [
  'page',
  'console',
  'cli',
  'mcp',
  'api',
  'link',
  'temporal',
  'auto',
] as const;
export type Channel = (typeof CHANNELS)[number];

/** Who acts, and the way the act came, as the audit trail keeps it. */
export interface Actor {
  /** The person; absent for a rule. */
  by?: string | undefined;
  /** The roles that the person had. */
  roles?: readonly Role[] | undefined;
  /** The same for all accounts of the person; never part of an entry. */
  personId?: string | undefined;
  /** Default: `api`. */
  via?: Channel | undefined;
  /** Id of the entry, of which the trail keeps one however often the act is repeated. Default: a new id. */
  actId?: string | undefined;
}
