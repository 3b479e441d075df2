import type { InferUITools, ToolSet } from 'ai';
import type { z } from 'zod';
import type { AgentDefinition, ToolDefinition } from './definitions.js';

/** What TypeScript knows of a tool; there is no such field at run time. */
export interface TypedTool<Name extends string, Input, Output> extends ToolDefinition {
  readonly name: Name;
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

/** What TypeScript knows of an agent's tools; there is no such field at run time. */
export interface TypedAgent<Tools> extends AgentDefinition {
  readonly '~tools'?: Tools;
}

/** What a tool returns, as JSON has it: a generator's value, the schema's result. */
export type OutputOf<Output extends z.ZodType, Result> =
  unknown extends z.output<Output>
    ? Result extends AsyncIterable<infer Value>
      ? Value
      : Result
    : z.output<Output>;

interface UITool {
  input: unknown;
  output: unknown;
}

type ToolOf<Tool> =
  Tool extends TypedTool<string, infer Input, infer Output>
    ? { input: Input; output: Output }
    : UITool;

/** A name that TypeScript does not know would stand for all names. */
type NameOf<Tool> = Tool extends { readonly name: infer Name extends string }
  ? string extends Name
    ? never
    : Name
  : never;

type OfList<Tools extends readonly unknown[]> = {
  [Tool in Tools[number] as NameOf<Tool>]: ToolOf<Tool>;
};

type OfRecord<Tools> = {
  [Name in keyof Tools & string]: Tools[Name] extends ToolDefinition
    ? ToolOf<Tools[Name]>
    : Tools[Name] extends ToolSet[string]
      ? InferUITools<Record<Name, Tools[Name]>>[Name]
      : UITool;
};

/**
 * The tools of an agent for `UIMessage`: the parts `tool-<name>` of its messages have the inputs and
 * outputs of these tools. The client asks for such parts by the header `x-helix-tool-parts: static`.
 * Tools of MCP servers are not among them.
 *
 * @example
 * import type { UIDataTypes, UIMessage } from 'ai';
 * import { defineAgent, defineTool, type InferAgentTools } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'The weather in a city.',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => ({ city, celsius: 21 }),
 * });
 * const guide = defineAgent({
 *   name: 'guide',
 *   systemPrompt: 'You plan day trips.',
 *   tools: [weather],
 *   llmConfig: { model: 'openai/gpt-5' },
 * });
 *
 * export type GuideMessage = UIMessage<never, UIDataTypes, InferAgentTools<typeof guide>>;
 */
export type InferAgentTools<Agent> =
  Agent extends TypedAgent<infer Tools>
    ? Tools extends readonly unknown[]
      ? OfList<Tools>
      : OfRecord<Tools>
    : never;
