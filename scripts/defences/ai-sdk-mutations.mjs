// Defences of what is taken from the AI SDK, and of what is refused; see mutations.mjs.
const SETTINGS = 'test/agents/ai-sdk-settings.test.ts';
const PREPARE = 'test/activities/prepare-step.test.ts';
const INPUTS = 'test/activities/ai-sdk-inputs.test.ts';
const REFUSED = 'settings of an agent of the AI SDK what would silently not happen is refused:';

export const fromAiSdk = [
  {
    defence: 'Tools of the AI SDK: a hook that throws does not harm the reply',
    file: 'activities/model/input-hooks.ts',
    edits: [['if (!signal.aborted) onError(error, name);', 'throw error;']],
    suite: INPUTS,
    test: 'a tool with hooks for its input may throw: it is not called again, and the calls are carried out all the same',
  },
  {
    defence: 'Tools of the AI SDK: a hook that fails is not called again for the reply',
    file: 'activities/model/input-hooks.ts',
    edits: [['      listening.delete(name);\n', '']],
    suite: INPUTS,
    test: 'a tool with hooks for its input may throw: it is not called again, and the calls are carried out all the same',
  },
  {
    defence: 'Agents of the AI SDK: prepareCall changes nothing that a run decides once',
    file: 'agents/ai-sdk/prepare-call.ts',
    edits: [['INPUTS.has(field) || value === given[field]', 'true']],
    suite: INPUTS,
    test: 'the prepareCall of an agent fails the run typed for a change that a run cannot have',
  },
  {
    defence: 'Agents of the AI SDK: what prepareStep says of a step counts before prepareCall',
    file: 'agents/ai-sdk/prepare-call.ts',
    edits: [
      [
        'joined(changes, defined(await own(afterChanges(step, changes))))',
        'joined(defined(await own(afterChanges(step, changes))), changes)',
      ],
    ],
    suite: INPUTS,
    test: 'the prepareCall of an agent changes what the call begins with, and prepareStep has the last word',
  },
  {
    defence: 'Agents of the AI SDK: prepareCall gets what its call begins with, without the reply',
    file: 'agents/ai-sdk/prepare-call.ts',
    edits: [['messages: step.initialMessages }', 'messages: step.messages }']],
    suite: INPUTS,
    test: 'the prepareCall of an agent changes what the call begins with, and prepareStep has the last word',
  },
  {
    defence: 'Agents of the AI SDK: no summary stands for messages that prepareCall changed',
    file: 'agents/ai-sdk/prepare-call.ts',
    edits: [['own(afterChanges(step, changes))', 'own({ ...step, ...changes })']],
    suite: INPUTS,
    test: 'the prepareCall of an agent leaves prepareStep no summaries to keep for messages that it changed',
  },
  {
    defence: 'Agents of the AI SDK: a prompt of prepareCall is refused',
    file: 'agents/ai-sdk/prepare-call.ts',
    edits: [["new Set(['options'])", "new Set(['options', 'prompt'])"]],
    suite: INPUTS,
    test: 'the prepareCall of an agent fails the run typed for a prompt, which would not be asked',
  },
  {
    defence: 'Agents of the AI SDK: call options are checked by their schema',
    file: 'agents/ai-sdk/prepare-call.ts',
    edits: [['if (schema === undefined) return { options };', 'return { options };']],
    suite: INPUTS,
    test: 'the prepareCall of an agent fails the run typed for options that do not fit',
  },
  {
    defence: 'Tools of the AI SDK: fields that would have no effect are refused',
    file: 'agents/ai-sdk/ai-sdk-tool.ts',
    edits: [['  checkToolFields(name, tool);\n', '']],
    test: 'fields of a tool of the AI SDK "deferLoading", which would have no effect, is refused',
  },
  {
    defence: 'Agents of the AI SDK: receivers of telemetry that would never be called are refused',
    file: 'agents/ai-sdk/check-settings.ts',
    edits: [['    checkTelemetry(field, settings[field], agent);\n', '']],
    test: `${REFUSED} integrations`,
  },
  {
    defence: 'Agents of the AI SDK: two functions for one hook are refused',
    file: 'agents/ai-sdk/check-settings.ts',
    edits: [['other === undefined || one === other', 'true']],
    test: `${REFUSED} onEnd and onFinish`,
  },
  {
    defence: 'Agents of the AI SDK: a prepareStep beside that of the agent replaces nothing',
    file: 'agents/ai-sdk/join-hooks.ts',
    edits: [
      [
        'const second = defined(await own(afterChanges(options, first)));',
        'const second: PreparedStep = {};',
      ],
    ],
    test: 'a prepareStep beside that of the agent is asked first; the agent’s own sees what it changed, and both count',
  },
  {
    defence: 'Agents of the AI SDK: summaries stand only for messages as they are stored',
    file: 'agents/ai-sdk/join-hooks.ts',
    edits: [['messages, compaction: { kept: undefined, keep } }', 'messages }']],
    test: 'a prepareStep beside that of the agent leaves the agent’s own no summaries to keep for messages that it selected',
  },
  {
    defence: 'Agents of the AI SDK: hooks beside those of the agent replace nothing',
    file: 'agents/ai-sdk/join-hooks.ts',
    edits: [['[call(own), call(given)]', '[call(given)]']],
    test: 'hooks beside those of the agent are called after them, also when they throw',
  },
  {
    defence: 'Agents of the AI SDK: onFinish of version 6 reads the last step',
    file: 'agents/ai-sdk/from-agent.ts',
    edits: [['      ...event.finalStep,\n', '']],
    test: 'hooks beside those of the agent that of AI SDK 6 reads the last step, with the messages of all',
  },
  {
    defence: 'Hooks: the end of a run has what all of its steps have',
    file: 'activities/model/finish-event.ts',
    edits: [['return { ...lists, usage,', 'return { usage,']],
    suite: 'test/activities/ai-sdk-hooks.test.ts',
    test: 'hooks are called once for each step and run, after the commit, and may fail',
  },
  {
    defence: 'prepareStep: what would have no effect is refused',
    file: 'activities/model/prepare-messages.ts',
    edits: [['checkPreparedStep(returned)', 'returned']],
    suite: PREPARE,
    test: 'prepareStep prepareStep may not return what would have no effect: {"toolsContext":{}}',
  },
  {
    defence: 'Approval: rules decide by the messages that the model was given',
    file: 'activities/model/step-commit.ts',
    edits: [['prompt: input.call?.options.prompt }', 'prompt: undefined }']],
    suite: 'test/activities/ai-sdk-approvals.test.ts',
    test: 'rules of agents of the AI SDK an approval that looks at the messages gets those of ToolLoopAgent: the tool',
  },
  {
    defence: 'Tools of the AI SDK: a conversation is not taken for one without messages',
    file: 'agents/ai-sdk/ai-sdk-tool.ts',
    edits: [['messages: NO_MESSAGES,', 'messages: [],']],
    suite: 'test/agents/ai-sdk-tools.test.ts',
    test: 'tools of the AI SDK one that reads the messages of the conversation gets an error: their number',
  },
  {
    defence: 'Tools of the AI SDK: a toModelOutput that fails is reported',
    file: 'activities/model/model-outputs.ts',
    edits: [['    failed(error, row);\n', '']],
    suite: 'test/activities/model-outputs.test.ts',
    test: 'toModelOutput one that throws hides the result, and the model is informed',
  },
  {
    defence: 'Settings: names of tools that an agent does not have are refused',
    file: 'agents/define-agent.ts',
    edits: [['  assertNames(config, names);\n', '']],
    test: 'names of tools that an agent does not have are refused where the names of all tools are known',
  },
  {
    defence: 'Hooks: steps have what the provider reported of its reply',
    file: 'activities/model/step-commit.ts',
    edits: [['answered: input.answered()', 'answered: undefined']],
    suite: 'test/activities/ai-sdk-hooks.test.ts',
    test: 'hooks get what the provider reported of its replies, and how long they took',
  },
  {
    defence: 'Bounds: what a provider reports beyond its reply is kept only if it is small',
    file: 'activities/model/answered.ts',
    edits: [['Buffer.byteLength(JSON.stringify(storable)) > MOST_BYTES', 'false']],
    suite: 'test/activities/answered.test.ts',
    test: 'of what a provider reports beyond its reply, only what is small is kept',
  },
  {
    defence: 'Agents of the AI SDK: their output is checked by its own schema',
    file: 'agents/ai-sdk/output-schema.ts',
    edits: [
      [
        "      context.addIssue({ code: 'custom', message: reasonOf(error) });\n      return z.NEVER;\n",
        '      return value;\n',
      ],
    ],
    suite: 'test/activities/ai-sdk-output.test.ts',
    test: 'the output of an agent of the AI SDK is the result of the run, as its schema gives it: AI SDK 7',
  },
  {
    defence: 'Agents of the AI SDK: a limit of a whole run is refused',
    file: 'agents/ai-sdk/time-limits.ts',
    edits: [['if (totalMs !== undefined) {', 'if (totalMs === null) {']],
    test: 'time limits of an agent of the AI SDK do not bound a whole run: 60000',
  },
  {
    defence: 'Tools of the AI SDK: a schema that the model cannot be given is refused',
    file: 'agents/ai-sdk/ai-sdk-tool.ts',
    edits: [
      [
        '  if (fault !== undefined) throw new DefinitionError(`inputSchema ${fault}`, { tool: name });\n',
        '',
      ],
    ],
    test: 'schemas of other libraries that the model cannot be given are refused, with what to write instead',
  },
  {
    defence: 'Tools of the AI SDK: a value beside issues is no valid input',
    file: 'agents/ai-sdk/tool-schema.ts',
    edits: [['    if (issues !== undefined) return { issues: issues.map(toIssue) };\n', '']],
    test: 'schemas of other libraries that describe themselves are given to the model, and check its input',
  },
].map((mutation) => ({ suite: SETTINGS, ...mutation }));
