import type { AgentState, CallRef, RunInput, Spent } from '../protocol/run.js';

const PHASES: Record<AgentState['phase'], string> = {
  model: 'the model is speaking',
  tools: 'tools are running',
  waiting: 'waiting for a person',
  ended: 'ended',
};

/** What the Temporal UI shows of a run, in Markdown: where it is, what it waits for and has used. */
export function describeRun(input: RunInput, state: AgentState, calls: readonly CallRef[]): string {
  const lines = [
    `**${input.agent}** · turn ${String(input.turn)} · step ${String(state.step)} · ${PHASES[state.phase]}`,
    ...calls.map(
      ({ toolName, toolCallId, kind }) => `- \`${toolName}\` (${kind}) \`${toolCallId}\``,
    ),
  ];
  if (state.waitingSince !== undefined) {
    lines.push(`Since ${new Date(state.waitingSince).toISOString()}`);
  }
  if (state.spent !== undefined) lines.push(`Used so far: ${formatSpent(state.spent)}`);
  if (input.parent !== undefined) {
    lines.push(`Sub-agent of \`${input.parent.runId}\`, for \`${input.parent.toolCallId}\``);
  }
  if (input.model !== undefined) lines.push(`Model: ${input.model}`);
  if (input.sessionUrl !== undefined) lines.push(`[Conversation](${input.sessionUrl})`);
  return lines.join('\n\n');
}

/** Tokens, and dollars where the agent has prices: to a hundredth of a cent below a cent. */
function formatSpent({ tokens, microUsd }: Spent): string {
  const count = `${String(tokens).replace(/\B(?=(\d{3})+$)/g, ',')} tokens`;
  if (microUsd === undefined) return count;
  const dollars = (microUsd / 1_000_000).toFixed(microUsd < 10_000 ? 4 : 2);
  return `${count}, $${dollars}`;
}
