// Defences of summaries in long conversations.

const SUITE = 'test/activities/compaction.test.ts';
const MADE = 'test/agents/compaction.test.ts';

export const compactions = [
  {
    defence:
      'Compaction: a summary is kept before the model is asked, so that no attempt writes it again',
    file: 'activities/model/compactions.ts',
    edits: [["if (before.kind === 'kept') {", "if (before.kind === 'none' && step < 0) {"]],
    test: 'a long turn is not summarised again after the death of an attempt that had its summary',
  },
  {
    defence: 'Compaction: the row of the step has the summary, for later runs and branches',
    file: 'activities/model/step-commit.ts',
    edits: [['...(input.compaction !== undefined && { compaction: input.compaction }),', '']],
    test: 'a conversation with a summary has it in the next turn, and in a branch',
  },
  {
    defence: 'Compaction: what a summary took counts before the model is asked',
    file: 'activities/model/step-tries.ts',
    edits: [
      [
        'if (summaries !== undefined && hasReached(agent.spendCap, addUsage(used, summaries))) {',
        'if (false) {',
      ],
    ],
    test: 'a long turn ends before the next model call when a summary has reached the spend cap',
  },
  {
    defence: 'Compaction: a summary that hangs is not waited for',
    file: 'activities/model/compactions.ts',
    edits: [['AbortSignal.any([attempt.signal, limit])', 'attempt.signal']],
    test: 'a long turn gets all messages when its summary hangs',
  },
  {
    defence: 'Compaction: a summary of own code leaves a message of the conversation',
    file: 'agents/compaction/checked-compaction.ts',
    edits: [['isCount(value) && (value as number) <= most', 'isCount(value)']],
    test: 'a summary of the agent\'s own code {"messages":3,"summary":"s"} is refused, and nothing of it is stored',
  },
  {
    defence: 'Compaction: a summary of own code is cut to what later prompts can hold',
    file: 'agents/compaction/checked-compaction.ts',
    edits: [['.slice(0, SUMMARY_CHARS)', '']],
    test: "a summary of the agent's own code is cut to what later prompts can hold",
  },
  {
    defence: 'Compaction: a call stays with its result',
    file: 'agents/compaction/choose-cut.ts',
    edits: [["message.role !== 'tool' && open.size === 0", 'open.size >= 0']],
    suite: MADE,
    test: 'the place of a cut is never between a call and its result, however late',
  },
  {
    defence: 'Compaction: a call that waits for its result is not summarised',
    file: 'agents/compaction/choose-cut.ts',
    edits: [
      ['(answered.has(part.toolCallId) || at > newestQuestion)', 'answered.has(part.toolCallId)'],
    ],
    suite: MADE,
    test: 'the place of a cut leaves a call that waits for its result among the newest messages',
  },
  {
    defence: 'Compaction: the first summary of a step counts, and is charged once',
    file: 'stores/transitions/compact.ts',
    edits: [['if (ofStep === step && kept', "if (ofStep === '' && kept"]],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'compact the first summary of a step counts, whichever attempt asks, and is charged once',
  },
  {
    defence: 'Compaction: an attempt that was replaced stores and charges nothing',
    file: 'stores/transitions/compact.ts',
    edits: [['readOwner(session, writer.name).token !== writer.token', 'writer.step < 0']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'compact an attempt that was replaced keeps none, and neither does a run that is over',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));
