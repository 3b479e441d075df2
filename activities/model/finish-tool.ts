import type { JSONSchema7, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { outputForModel } from '../../agents/ai-sdk/output-schema.js';
import { asSchema } from 'ai';
import { z } from 'zod';
import type { AgentDefinition } from '../../agents/definitions.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { findJsonFault, LIMITS } from '../../protocol/limits.js';
import type { ToolRow } from '../../protocol/rows.js';
import { closedCall, type CallToCommit } from '../../runs/record/step-chunks.js';
import { checkInput, parseInput, type CallInput } from './call-input.js';
import type { ProposingStep } from './proposed-calls.js';
import type { ProposedCall } from './step-reply.js';

/** Tool by which a model submits its result, for agents with an output schema. */
export type FinishTool = Awaited<ReturnType<typeof makeFinishTool>>;

/** A parsed result, ready to be stored, or the reason that it is invalid. */
type Verdict = { output: unknown } | { why: string };

const DESCRIPTION =
  'Hands in the result and ends the work. Call it once, when everything else is done.';

const known = new WeakMap<AgentDefinition, Promise<FinishTool>>();

/** Returns undefined for agents without an output schema. Cached: converting schemas is costly. */
export function toFinishTool(agent: AgentDefinition): Promise<FinishTool> | undefined {
  if (agent.outputSchema === undefined) return undefined;
  const made = known.get(agent) ?? makeFinishTool(agent.outputSchema, agent.llmConfig.strictOutput);
  known.set(agent, made);
  return made;
}

async function makeFinishTool(schema: z.ZodType, strict?: boolean) {
  const described = outputForModel(schema);
  const jsonSchema = await asSchema(described).jsonSchema;
  // Providers take only objects as arguments; other results become a field of one.
  const isWrapped = jsonSchema.type !== 'object';
  const expected = isWrapped ? z.object({ result: schema }) : schema;
  const toWrapped = async (): Promise<JSONSchema7> =>
    described === schema ? asSchema(expected).jsonSchema : wrap(jsonSchema);
  const tool: LanguageModelV4FunctionTool = {
    type: 'function',
    name: FINISH_TOOL_NAME,
    description: DESCRIPTION,
    inputSchema: isWrapped ? await toWrapped() : jsonSchema,
    ...(strict === true && { strict }),
  };
  return {
    tool,
    accept: async (input: CallInput): Promise<Verdict> => {
      const checked = await checkInput(expected, input);
      const verdict =
        'why' in checked
          ? checked
          : toStored(isWrapped ? (checked.data as { result: unknown }).result : checked.data);
      if ('output' in verdict) return verdict;
      return { why: `Invalid input for "${FINISH_TOOL_NAME}": ${verdict.why}` };
    },
    /** Reads a reply without calls; returns undefined unless its whole text is fitting JSON. */
    read: async (text: string): Promise<{ output: unknown } | undefined> => {
      if (text.trim() === '') return undefined;
      const checked = await checkInput(schema, parseInput(text));
      const stored = 'why' in checked ? checked : toStored(checked.data);
      return 'why' in stored ? undefined : stored;
    },
  };
}

/** Moves the schema into a field and adjusts references to it; definitions stay at the root. */
function wrap(result: JSONSchema7): JSONSchema7 {
  const moved = JSON.parse(JSON.stringify(result), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(OWN_REF, FIELD) : value,
  ) as JSONSchema7;
  const { $schema, definitions, $defs, ...field } = moved;
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { result: field },
    required: ['result'],
    additionalProperties: false,
    ...(definitions !== undefined && { definitions }),
    ...($defs !== undefined && { $defs }),
  };
}

const FIELD = '#/properties/result';
/** Matches a reference to the root or into it, except to definitions. */
const OWN_REF = /^#(?=$|\/(?!(?:definitions|\$defs)\/))/;

/** Refuses a result that the schema's transform made impossible to store. */
function toStored(data: unknown): Verdict {
  const fault = findJsonFault(data);
  if (fault !== undefined) return { why: `the result cannot be kept: ${fault}` };
  const json = JSON.stringify(data);
  if (Buffer.byteLength(json) > LIMITS.callInputBytes) return { why: 'the result is too large' };
  return { output: JSON.parse(json) as unknown };
}

/** The calls that submitted the result of a step. */
export interface FinishCalls {
  opened: ReadonlyMap<ProposedCall, CallToCommit>;
  /** First valid result. */
  accepted: { output: unknown } | undefined;
}

/**
 * Checks the calls that submit a result. Only the transcript has them: no chunk shows them, so no
 * client ever sees one.
 */
export async function openFinishCalls(
  from: ProposingStep,
  finish: FinishTool | undefined,
  calls: readonly ProposedCall[],
): Promise<FinishCalls> {
  const opened = new Map<ProposedCall, CallToCommit>();
  let accepted: FinishCalls['accepted'];
  for (const call of calls) {
    const { toolCallId, toolName } = call;
    if (toolName !== FINISH_TOOL_NAME) continue;
    const input = parseInput(call.input);
    const verdict = await (accepted === undefined ? (finish?.accept(input) ?? UNKNOWN) : ALREADY);
    const about = { toolCallId, toolName };
    if ('output' in verdict) {
      accepted = verdict;
      // Every call needs a result.
      const row: ToolRow = { role: 'tool', ...about, output: { acknowledged: true } };
      const acknowledged = { ...about, kind: 'server', input: input.value, row } as const;
      opened.set(call, { call: acknowledged, chunks: [] });
    } else {
      const why = { code: 'invalid_output', text: verdict.why };
      opened.set(call, { ...closedCall(from, call, input.value, why, 0), chunks: [] });
    }
  }
  return { opened, accepted };
}

const UNKNOWN: Verdict = { why: `There is no tool named "${FINISH_TOOL_NAME}".` };
const ALREADY: Verdict = { why: 'The result was handed in already.' };
