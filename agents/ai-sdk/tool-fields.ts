import { DefinitionError } from '../definition-error.js';

const KNOWN = new Set([
  ...['type', 'title', 'description', 'inputSchema', 'outputSchema', 'execute', 'needsApproval'],
  ...['toModelOutput', 'providerOptions', 'strict', 'inputExamples'],
  ...['onInputStart', 'onInputDelta', 'onInputAvailable', 'contextSchema'],
  ...['id', 'args', 'isProviderExecuted', 'supportsDeferredResults'],
]);

/** About the tool alone, such as the MCP server that it came from: nothing that it does depends on it. */
const LEFT_OUT = new Set(['metadata', '_meta']);

const LATER =
  'no tool can be loaded later; use prepareStep with activeTools to choose the tools of a step';

/** What to do about fields that would silently have no effect. */
const INSTEAD: Readonly<Record<string, string>> = {
  deferLoading: LATER,
  parameters: 'tools of AI SDK 6 and 7 name it inputSchema',
  experimental_toToolResultContent: 'tools of AI SDK 6 and 7 name it toModelOutput',
};

/** @throws DefinitionError for a field of a tool of the AI SDK that would silently have no effect */
export function checkToolFields(name: string, tool: object): void {
  for (const [field, value] of Object.entries(tool)) {
    // `false` is what the optional switches are without being set.
    if (value === undefined || value === false || KNOWN.has(field) || LEFT_OUT.has(field)) continue;
    const instead = INSTEAD[field] ?? 'remove it, or pass the field as a setting of fromAiSdkTool';
    throw new DefinitionError(`"${field}" has no effect here; ${instead}`, { tool: name });
  }
}
