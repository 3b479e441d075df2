// Defences of what an author's definitions may be; see mutations.mjs.
const SUITE = 'test/agents/settings.test.ts';
const AGENTS = 'test/activities/ai-sdk-agents.test.ts';
const PROVIDERS = 'test/activities/provider-calls.test.ts';
const TOOLS = 'test/agents/ai-sdk-tools.test.ts';

export const agents = [
  {
    defence: 'Structured output: a recursive schema keeps what it refers to',
    file: 'activities/model/finish-tool.ts',
    edits: [['    ...(definitions !== undefined && { definitions }),\n', '']],
    suite: 'test/activities/finish-tool.test.ts',
    test: 'a recursive result that is no object is offered with the definitions that it refers to',
  },
  {
    defence: 'Settings: fields that do not exist are refused',
    file: 'agents/fields.ts',
    edits: [['z.strictObject(shape, {', 'z.object(shape, {']],
    test: 'defineAgent defineAgent names the fields of {"temprature":1} that an agent does not have',
  },
  {
    defence: "Settings: tools in an agent's list are checked again",
    file: 'agents/define-agent.ts',
    edits: [['    assertTool(tool, { agent: name, index });\n', '']],
    test: 'defineAgent defineAgent names agent and tool when a tool in its list has a fault',
  },
  {
    defence: 'Settings: an entry that is no tool of ours is refused, with what to write instead',
    file: 'agents/agent-config.ts',
    edits: [
      [
        "    if (message !== undefined) context.addIssue({ code: 'custom', path: [index], message });\n",
        '',
      ],
    ],
    test: 'defineAgent defineAgent refuses {"tools":["weather"]} and explains: tools[0] must be what defineTool() returned, not "weather"',
  },
  {
    defence: 'Settings: a cap in dollars needs prices',
    file: 'agents/agent-config.ts',
    edits: [['!spendCap?.usd || llmConfig.pricing !== undefined', 'true']],
    test: 'defineAgent defineAgent refuses {"spendCap":{"usd":1}} and explains: spendCap.usd needs llmConfig.pricing',
  },
  {
    defence: 'Settings: what stands for a number of milliseconds is one',
    file: 'agents/fields.ts',
    edits: [['Number.isSafeInteger(value) && (value as number) > 0', 'true']],
    suite: 'test/agents/tool-settings.test.ts',
    test: 'defineTool defineTool refuses {"timeoutMs":0} and explains: timeoutMs must be a whole number of milliseconds above 0, not 0',
  },
  {
    defence: 'Tools of the AI SDK: what jsonSchema() describes is checked',
    file: 'agents/ai-sdk/tool-schema.ts',
    edits: [['parsed?.success === false ?', 'parsed?.success === undefined ?']],
    suite: TOOLS,
    test: 'input schemas a schema of jsonSchema() checks the input and describes it to the model',
  },
  {
    defence: 'Agents of the AI SDK: toolApproval counts for tools that replace those of the agent',
    file: 'agents/ai-sdk/from-agent.ts',
    edits: [
      [
        'withRules(given, { approval,',
        'withRules(given, { approval: own.tools ? undefined : approval,',
      ],
    ],
    suite: AGENTS,
    test: 'agents of the AI SDK toolApproval counts for tools that replace those of the agent, too',
  },
  {
    defence: 'Agents of the AI SDK: an approval that nothing would ask is refused',
    file: 'agents/ai-sdk/tool-approval.ts',
    edits: [["if (typeof tool.execute !== 'function') {", 'if (tool === undefined) {']],
    suite: AGENTS,
    test: 'agents of the AI SDK as definitions toolApproval that nothing would ask is refused: a tool of the client',
  },
  {
    defence: 'Hooks: a run whose next run has begun already is reported, too',
    file: 'activities/model/finish-hooks.ts',
    edits: [['record === undefined || record.runId === runId', 'true']],
    suite: 'test/activities/ai-sdk-hooks.test.ts',
    test: 'hooks are called for a run whose next run has begun already',
  },
  {
    defence: 'Tools of a provider: a call that asks for an approval is settled',
    file: 'activities/model/step-reply.ts',
    edits: [['return denyAsked(part.toolCallId);', 'return [];']],
    suite: PROVIDERS,
    test: 'calls of a provider that ask for an approval are denied, and the conversation continues',
  },
  {
    defence: 'Tools of a provider: those that would ask for an approval are refused',
    file: 'agents/ai-sdk/ai-sdk-tool.ts',
    edits: [["if (requireApproval !== 'never') {", 'if (false) {']],
    suite: PROVIDERS,
    test: 'calls of a provider that would ask for an approval are refused when they are defined',
  },
  {
    defence: 'Tools of a provider: arguments that no chunk can hold fail no run',
    file: 'activities/model/provider-calls.ts',
    edits: [['isRecord(input) && !isTooLargeToShow(input)', 'isRecord(input)']],
    suite: PROVIDERS,
    test: 'calls of a provider take arguments that no chunk can hold, which are not shown',
  },
  {
    defence: 'Repair: a stop is heard while a call is mended',
    file: 'activities/model/repair-call.ts',
    edits: [
      ['AbortSignal.any([cut, AbortSignal.timeout(REPAIR_MS)])', 'AbortSignal.timeout(REPAIR_MS)'],
    ],
    suite: 'test/activities/ai-sdk-hooks.test.ts',
    test: 'a repair that takes long is cut by a stop',
  },
  {
    defence: 'Tools of the AI SDK: needsApproval asks a person',
    file: 'agents/ai-sdk/ai-sdk-tool.ts',
    edits: [
      ['settings.requireApproval ?? toApprovalRule(name, tool.needsApproval, fields)', 'undefined'],
    ],
    suite: TOOLS,
    test: 'tools of the AI SDK needsApproval asks a person, always or by its rule',
  },
  {
    defence: 'Tools of the AI SDK: the last value of a generator is its result',
    file: 'agents/ai-sdk/ai-sdk-tool.ts',
    edits: [
      [
        'return lastOf(await run(input, options as ToolExecutionOptions<ToolContext>), context);',
        'return run(input, options as ToolExecutionOptions<ToolContext>);',
      ],
    ],
    suite: TOOLS,
    test: 'tools of the AI SDK the last value of a generator is the result',
  },
  {
    defence: 'Tools of the AI SDK: toModelOutput hides also what a person has changed',
    file: 'activities/model/prompt.ts',
    edits: [['toToldOutput(row, outputs.get(row))', 'toToldOutput(row)']],
    suite: 'test/activities/model-outputs.test.ts',
    test: 'toModelOutput what it leaves out stays out when a person has changed the input',
  },
  {
    defence: 'Tools of the AI SDK: a toModelOutput that throws hides the result',
    file: 'activities/model/model-outputs.ts',
    edits: [
      [
        '    failed(error, row);\n    return UNWORDED;',
        "    failed(error, row);\n    return { type: 'json', value: output as never };",
      ],
    ],
    suite: 'test/activities/model-outputs.test.ts',
    test: 'toModelOutput one that throws hides the result, and the model is informed',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));
