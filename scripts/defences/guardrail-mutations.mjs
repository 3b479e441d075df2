// Defences of an agent's guardrails.

const SUITE = 'test/activities/guardrails.test.ts';

export const guardrails = [
  {
    defence: 'Guardrails: text waits for its check',
    file: 'activities/model/guardrails/output-guard.ts',
    edits: [["if (every === 'block') return 0;", 'return text.length;']],
    test: 'checks of the output text is checked in pieces: block',
  },
  {
    defence: 'Guardrails: calls wait for the end of the reply',
    file: 'activities/model/guardrails/output-guard.ts',
    edits: [['held ??= [];\n        return hold([part]);', 'return [part];']],
    test: 'checks of the output a reply that is refused carries out none of its calls',
  },
  {
    defence: 'Guardrails: what was decided about a message is stored with the reply',
    file: 'activities/model/step-commit.ts',
    edits: [['...(input.screened !== undefined && { screened: input.screened }),', '']],
    test: 'checks of the input a message that is refused reaches no model, in this turn or a later one',
  },
  {
    defence: 'Guardrails: what is no verdict lets nothing pass',
    file: 'activities/model/guardrails/check-text.ts',
    edits: [["throw new Error('what it returned is no verdict');", 'return {};']],
    test: 'a check that fails one that returns nonsense lets nothing pass',
  },
  {
    defence: 'Guardrails: a worker that takes over shows nothing before its own checks',
    file: 'activities/model/guardrails/output-guard.ts',
    edits: [
      [
        'return release(key, lengthToCheck(delta, every));',
        'return [part, ...(await release(key, lengthToCheck(delta, every)))];',
      ],
    ],
    suite: 'test/e2e/kill-agent-parts.test.ts',
    test: 'a worker that is killed in the shape of a leg while a check holds text back shows none of what the next one refuses',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));
