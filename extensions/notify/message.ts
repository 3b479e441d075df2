import type { AgentDefinition } from '../../agents/definitions.js';
import { withSubAgents, type AgentRegistry } from '../../agents/registry.js';
import { toShownSessionId } from '../../protocol/ids.js';
import type { Notice, NoticeType } from '../../protocol/notices.js';
import { toWords } from '../../protocol/shown-call.js';

/** A notice with the data that one receiver may see. */
export interface Message {
  notice: Notice;
  /** Titles of agent and tool. Default: their names in words. */
  titles?: { agent?: string | undefined; tool?: string | undefined };
  /** Page on which the reader can act, see `toPlace`. */
  url?: string | undefined;
  /** Page on which the reader can decide. */
  decideUrl?: string | undefined;
  /** Input of the call, if the settings permit it. */
  input?: unknown;
  /** The calls or runs of a joined message, each of which the reader can decide. */
  items?: readonly MessageItem[];
}

export interface MessageItem extends Partial<Notice> {
  title: string;
  decideUrl?: string | undefined;
  input?: unknown;
}

/** The parts of a message, or of an item, that facts tell of. */
type Facts = Pick<Message, 'input'> & { notice: Partial<Notice> };

/** A message shows this many items and counts the others. */
const MAX_ITEMS = 20;
/** Characters of an input that are shown. */
const MAX_INPUT = 1_500;
const MAX_ITEM_INPUT = 300;

/** Joins several messages into one with an item for each. Pure. */
export function joinMessages(messages: readonly [Message, ...Message[]]): Message {
  const [first, ...more] = messages;
  if (more.length === 0) return first;
  const all = messages.reduce((sum, { notice: { others = 0 } }) => sum + 1 + others, 0);
  const items = messages.flatMap((message) => message.items ?? [toItem(message)]);
  const {
    calls: _calls,
    deadline: _deadline,
    code: _code,
    outcome: _outcome,
    delivery: _delivery,
    period: _period,
    ...about
  } = first.notice;
  const { sessionId, runId, toolCallId, ...ofMany } = about;
  const isOne = messages.every(({ notice }) => notice.sessionId === sessionId);
  const notice = { ...(isOne ? about : ofMany), others: all - 1 };
  const { titles, url } = first;
  return {
    notice,
    ...(titles && { titles }),
    ...(url !== undefined && {
      url: url.slice(0, -toPlace(first.notice).path.length) + toPlace(notice).path,
    }),
    items: items.slice(0, MAX_ITEMS),
  };
}

function toItem({ notice, titles, decideUrl, input }: Message): MessageItem {
  // The joined messages of a receiver's failed deliveries name it once.
  const { receiver: _receiver, ...own } = notice;
  const { type, toolName = '', agent } = own;
  const tool = titles?.tool ?? toWords(toolName);
  const who = titles?.agent ?? (agent === undefined ? WORDS[type]('', '') : toWords(agent));
  return { ...own, decideUrl, input, title: tool === '' ? who : tool };
}

/** Describes one item of a message in text. Pure. */
export function toItemText({ title, input, ...notice }: MessageItem): string {
  return [
    title,
    ...toFacts({ notice }).map(([name, value]) => `${name.toLowerCase()} ${value}`),
    ...(input === undefined ? [] : [shortened(JSON.stringify(input), MAX_ITEM_INPUT)]),
  ].join(' · ');
}

const WORDS: Record<NoticeType, (what: string, agent: string) => string> = {
  'approval.requested': (what, agent) => `${agent} asks for approval: ${what}`,
  'approval.reminder': (what, agent) => `${agent} still waits for approval: ${what}`,
  'approval.escalated': (what, agent) => `${agent} has no answer yet: ${what}`,
  'approval.settled': (what) => `No longer waits for approval: ${what}`,
  'approval.expired': (what) => `The time for approval is over: ${what}`,
  'tool.requested': (what, agent) => `${agent} waits for a page: ${what}`,
  'tool.reminder': (what, agent) => `${agent} still waits for a page: ${what}`,
  'tool.escalated': (what, agent) => `No page has answered ${agent}: ${what}`,
  'tool.settled': (what) => `No longer waits for a page: ${what}`,
  'tool.expired': (what) => `The time for an answer of a page is over: ${what}`,
  'run.completed': (_, agent) => `${agent} has completed a run`,
  'run.failed': (_, agent) => `A run of ${agent} has failed`,
  'run.stopped': (_, agent) => `A run of ${agent} was stopped`,
  'spend.exceeded': () => 'A budget is spent',
  'delivery.failed': (what) => `A notice was not taken${what && `: ${what}`}`,
  test: () => 'A test of notifications',
};

/** Summarizes a notice in one line. Pure. */
export function toHeadline({ notice, titles = {} }: Message): string {
  const { type, toolName = '', agent, others = 0 } = notice;
  const { tool = toWords(toolName) } = titles;
  const more = others > 0 ? ` and ${String(others)} more` : '';
  const who = titles.agent ?? (agent === undefined ? 'An agent' : toWords(agent));
  // The words for the end of a run name no call.
  return tool === '' ? WORDS[type]('', who) + more : WORDS[type](tool + more, who);
}

/** Returns further facts of a notice, or of one of those it joins, as pairs of name and value. Pure. */
export function toFacts({ notice, input }: Facts): [name: string, value: string][] {
  const { sessionId, deadline, code, outcome, owner, tenant, receiver, delivery } = notice;
  const { period, limitUsd = 0, usedUsd = 0 } = notice;
  const facts: [string, string | undefined][] = [
    ['Conversation', sessionId && toShownSessionId(sessionId)],
    ['Until', deadline === undefined ? undefined : new Date(deadline).toISOString()],
    ['Outcome', outcome],
    ['Code', code],
    ['Receiver', receiver],
    ['Delivery', delivery],
    ['Budget', period && `$${usedUsd.toFixed(2)} of $${limitUsd.toFixed(2)} this ${period}`],
    ['Of', period && (owner ?? tenant ?? 'everyone')],
    ['Input', input === undefined ? undefined : shortened(JSON.stringify(input), MAX_INPUT)],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
}

function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).toWellFormed()} …` : text;
}

/**
 * Returns the page on which the reader of a notice can act: the label of its button, and its path below the public
 * address. It is in the console, since colleagues cannot open another user's conversation; the owner may open it too.
 * Pure.
 */
export function toPlace({
  type,
  sessionId,
  runId,
  toolCallId,
}: Pick<Notice, 'type' | 'sessionId' | 'runId' | 'toolCallId'>): { title: string; path: string } {
  if (type === 'spend.exceeded') return { title: 'Usage', path: '/console/usage' };
  if (sessionId !== undefined && toolCallId !== undefined) {
    const shown = encodeURIComponent(toShownSessionId(sessionId));
    return { title: 'Question', path: `/console/waiting/${shown}` };
  }
  if (runId !== undefined) {
    return { title: 'Run', path: `/console/runs/${encodeURIComponent(runId)}` };
  }
  if (/^(approval|tool)\./.test(type)) return { title: 'Questions', path: '/console/waiting' };
  if (type.startsWith('run.')) return { title: 'Runs', path: '/console/runs' };
  return { title: 'Console', path: '/console' };
}

/** An agent registry, or the part of one that an API has. */
export type Agents = Partial<Pick<AgentRegistry, 'get' | 'isMade'>>;

/** Returns an agent's title, or its name in words. */
export function titleOfAgent(agents: Agents, name: string): string {
  return find(agents, name)?.page?.title ?? toWords(name);
}

/**
 * Returns a tool's title: from the agent itself, else from one that it may delegate to. Tools of other agents may
 * share the name and do something else.
 */
export function titleOfTool(agents: Agents, agent: string, tool: string): string {
  const definition = find(agents, agent);
  const family = definition === undefined ? [] : [...withSubAgents(definition)];
  const known = family.flatMap(({ tools }) => tools).find(({ name }) => name === tool);
  return known?.title ?? toWords(tool);
}

/** Agents made by a factory are unknown here: the factory needs a person and a conversation. */
function find(agents: Agents, name: string): AgentDefinition | undefined {
  return agents.isMade?.(name) === true ? undefined : agents.get?.(name);
}
