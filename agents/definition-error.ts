import type { z } from 'zod';

/** Subject of a fault: an agent, a tool, or a tool of an agent. */
export interface DefinitionSubject {
  agent?: unknown;
  tool?: unknown;
  /** Position in the agent's list of tools; names a tool that has no name. */
  index?: number;
  /** Function of the package whose arguments are at fault. */
  call?: string;
}

/** Maximum number of faults in one message. */
const LISTED = 5;

/**
 * A definition that can never run. Thrown while agents are defined or registered, so that a mistake
 * shows when the process starts and not in the middle of a conversation.
 */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly agent: string | undefined;
  readonly tool: string | undefined;

  /** The message begins with the agent and the tool that have the fault. */
  constructor(fault: string, subject: DefinitionSubject) {
    super(`${formatSubject(subject)}: ${fault}`);
    this.agent = toName(subject.agent);
    this.tool = toName(subject.tool);
  }
}

/**
 * Checks settings against their schema without changing them.
 *
 * @throws DefinitionError that names each wrong field and the expected value
 */
export function assertSettings(
  schema: z.ZodType,
  settings: unknown,
  subject: DefinitionSubject,
): void {
  const { error } = schema.safeParse(settings);
  if (error === undefined) return;
  const faults = error.issues.slice(0, LISTED).map(({ path, message }) => {
    const field = path.map((key, at) => formatKey(key, at)).join('');
    return `${field === '' ? 'it' : field} ${message}`;
  });
  throw new DefinitionError(faults.join('; '), subject);
}

function formatKey(key: PropertyKey, at: number): string {
  if (typeof key === 'number') return `[${String(key)}]`;
  return at === 0 ? String(key) : `.${String(key)}`;
}

function formatSubject({ agent, tool, index, call }: DefinitionSubject): string {
  if (call !== undefined) return call;
  const place = index === undefined ? 'Tool without a name' : `tools[${String(index)}]`;
  const name = toName(tool);
  const toolText = name === undefined ? place : `Tool "${name}"`;
  if (agent === undefined) return toolText;
  const agentName = toName(agent);
  const agentText = agentName === undefined ? 'Agent without a name' : `Agent "${agentName}"`;
  if (name === undefined && index === undefined) return agentText;
  return `${agentText}, ${name === undefined ? place : `tool "${name}"`}`;
}

function toName(name: unknown): string | undefined {
  return typeof name === 'string' ? name : undefined;
}
