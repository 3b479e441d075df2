import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { FINISH_TOOL_NAME, type AgentDefinition, type ToolContext } from '../../agents/index.js';
import { createSupportAgent } from '../../examples/index.js';
import { Finding, toResearchReply } from '../../examples/support/researcher.js';
import { toSupportReply } from '../../examples/support/support-reply.js';
import { writeChangedInput } from '../../protocol/answers.js';
import { fromUser } from './streams.js';

type Output = LanguageModelV4ToolResultPart['output'];
interface MadeCall {
  name: string;
  input: unknown;
}

const agent = createSupportAgent();

export function readAgent(): AgentDefinition {
  return agent;
}

/** Runs a tool of an agent and returns its output as a model sees it. */
async function runTool(owner: AgentDefinition, { name, input }: MadeCall): Promise<Output> {
  const tool = owner.tools.find((tool) => tool.name === name);
  if (typeof tool?.execute !== 'function') throw new Error(`no server tool ${name}`);
  const context = { idempotencyKey: 'key' } as ToolContext;
  try {
    const value: unknown = await tool.execute(tool.inputSchema.parse(input), context);
    return { type: 'json', value: tool.outputSchema?.parse(value) as never };
  } catch (error) {
    return { type: 'error-text', value: (error as Error).message };
  }
}

/** What the people around a turn do. */
export interface People {
  /** Of the colleague who decides about a refund: agrees, refuses, or changes the amount first. */
  refund?: 'agree' | 'deny' | { amount: number; by: string };
  /** The option that the customer chooses; undefined: none in time. */
  chosen?: string | undefined;
}

export interface TurnResult {
  prompt: LanguageModelV4Prompt;
  text: string;
  calls: MadeCall[];
}

/** Plays a turn of the help desk to its end. */
export async function playTurn(
  history: LanguageModelV4Prompt,
  userText: string,
  people: People = {},
): Promise<TurnResult> {
  const prompt = [...history, ...fromUser(userText)];
  const calls: MadeCall[] = [];
  for (;;) {
    const reply = toSupportReply({ prompt });
    const text = reply.pieces.join('');
    const [call] = reply.calls;
    if (call === undefined) {
      prompt.push({ role: 'assistant', content: [{ type: 'text', text }] });
      return { prompt, text, calls };
    }
    const { tool: toolName, id: toolCallId } = call;
    const input: unknown = JSON.parse(call.input);
    calls.push({ name: toolName, input });
    const output = await carryOut({ name: toolName, input }, people);
    prompt.push(
      {
        role: 'assistant',
        content: [
          { type: 'text', text },
          { type: 'tool-call', toolCallId, toolName, input },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] },
    );
  }
}

async function carryOut(call: MadeCall, { refund = 'agree', chosen }: People): Promise<Output> {
  if (call.name === 'askCustomer') {
    return chosen === undefined
      ? { type: 'error-text', value: 'No one answered in time.' }
      : { type: 'json', value: { chosen } };
  }
  if (call.name === 'research') {
    const { question } = call.input as { question: string };
    return { type: 'json', value: (await playResearch(question)).finding as never };
  }
  if (call.name !== 'refund' || refund === 'agree') return runTool(agent, call);
  if (refund === 'deny') return { type: 'execution-denied', reason: 'Too late.' };
  const { amount, by } = refund;
  const input = { ...(call.input as object), amount };
  const output = await runTool(agent, { ...call, input });
  const failed = output.type === 'error-text';
  const outcome = failed ? output.value : JSON.stringify((output as { value: unknown }).value);
  const value = writeChangedInput({ by, input, outcome, failed });
  return { type: failed ? 'error-text' : 'text', value };
}

/** Plays a research to its finding. */
export async function playResearch(
  question: string,
): Promise<{ calls: MadeCall[]; finding: Finding }> {
  const researcher = agent.tools.find(({ name }) => name === 'research')?.subAgent?.agent;
  if (researcher === undefined) throw new Error('no researcher');
  const prompt = fromUser(question);
  const calls: MadeCall[] = [];
  for (;;) {
    const made = toResearchReply({ prompt }).calls.map(({ tool, id, input }) => ({
      toolName: tool,
      toolCallId: id,
      input: JSON.parse(input) as unknown,
    }));
    const finish = made.find(({ toolName }) => toolName === FINISH_TOOL_NAME);
    if (finish !== undefined) return { calls, finding: Finding.parse(finish.input) };
    prompt.push({
      role: 'assistant',
      content: made.map((call) => ({ type: 'tool-call', ...call })),
    });
    for (const { toolName, toolCallId, input } of made) {
      calls.push({ name: toolName, input });
      const output = await runTool(researcher, { name: toolName, input });
      prompt.push({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName, output }],
      });
    }
  }
}
