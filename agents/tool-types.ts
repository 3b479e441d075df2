import type { InferUITools, ToolSet } from 'ai';
import type { z } from 'zod';
import type { AgentDefinition, ToolDefinition } from './definitions.js';

/** Types of a tool and of the agent that executes it; the field does not exist at run time. */
export interface TypedTool<
  Name extends string,
  Input,
  Output,
  Agent = never,
> extends ToolDefinition {
  readonly name: Name;
  readonly '~types'?: { readonly input: Input; readonly output: Output; readonly agent: Agent };
}

/** Types of an agent's tools, result, and name; the fields do not exist at run time. */
export interface TypedAgent<
  Tools,
  Output = unknown,
  Name extends string = string,
> extends AgentDefinition {
  readonly name: Name;
  readonly '~tools'?: Tools;
  readonly '~output'?: Output;
}

/** JSON type of a tool's result: a generator's value, or the schema's result. */
export type OutputOf<Output extends z.ZodType, Result> =
  unknown extends z.output<Output>
    ? Result extends AsyncIterable<infer Value>
      ? Value
      : Result
    : z.output<Output>;

/** Result type of an agent's tool: the checked result, or unknown. */
export type ResultOf<Agent> = Agent extends TypedAgent<unknown, infer Output> ? Output : unknown;

interface UITool {
  input: unknown;
  output: unknown;
}

interface Entry {
  name: string;
  tool: UITool;
}

/** Excludes unknown names, which would stand for all names. */
type NameOf<Name extends string> =
  Partial<Record<Name, unknown>> extends Record<Name, unknown> ? never : Name;

/** A tool, and the tools of the agent that executes it, whose questions the conversation shows. */
type EntriesOfTool<Tool> =
  Tool extends TypedTool<infer Name, infer Input, infer Output, infer Agent>
    ? { name: NameOf<Name>; tool: { input: Input; output: Output } } | EntriesOf<Agent>
    : never;

interface EntryOfAiSdk<Name extends string, Tool> {
  name: Name;
  tool: Tool extends ToolSet[string] ? InferUITools<Record<Name, Tool>>[Name] : OfOlder<Tool>;
}

/** Types of an AI SDK 6 tool, by its schemas. */
type OfOlder<Tool> = Tool extends { inputSchema: infer Input; outputSchema?: infer Output }
  ? { input: TypeOf<Input>; output: TypeOf<Output> }
  : UITool;
type TypeOf<Schema> = Extract<Schema, { _type: unknown }> extends { _type: infer T } ? T : unknown;

type EntriesOf<Agent> =
  Agent extends TypedAgent<infer Tools>
    ? Tools extends readonly unknown[]
      ? EntriesOfTool<Tools[number]>
      : {
          [Name in keyof Tools & string]: Tools[Name] extends ToolDefinition
            ? EntriesOfTool<Tools[Name]>
            : EntryOfAiSdk<Name, Tools[Name]>;
        }[keyof Tools & string]
    : never;

type ByName<Entries extends Entry> = { [Each in Entries as Each['name']]: Each['tool'] };

/**
 * An agent's tools for `UIMessage`: the parts `tool-<name>` of its messages have the inputs and
 * outputs of these tools. The client requests these parts by the header `x-helix-tool-parts:
 * static`. Tools of its sub-agents are included, since their questions appear in its messages; two
 * tools of one name are a union. Tools of MCP servers, known only as a run begins, are not.
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
export type InferAgentTools<Agent> = ByName<EntriesOf<Agent>>;
