/**
 * A definition that can never run: thrown while agents are being defined or registered, so that a
 * mistake shows at start-up and not in the middle of somebody's conversation.
 */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly agent: string | undefined;
  readonly tool: string | undefined;

  /** The message opens with the agent and the tool that it is about. */
  constructor(fault: string, subject: { agent?: string; tool?: string }) {
    super(`${formatSubject(subject)}: ${fault}`);
    this.agent = subject.agent;
    this.tool = subject.tool;
  }
}

function formatSubject({ agent, tool }: { agent?: string; tool?: string }): string {
  if (agent === undefined) return `Tool "${tool ?? ''}"`;
  return tool === undefined ? `Agent "${agent}"` : `Agent "${agent}", tool "${tool}"`;
}
