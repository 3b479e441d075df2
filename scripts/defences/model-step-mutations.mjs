// Defences of model steps: silent models, caps, and outputs that do not fit.
const BAD_MODEL = 'test/activities/bad-model.test.ts';
const SPENDING = 'test/activities/spending.test.ts';
const OUTPUT = 'test/activities/structured-output.test.ts';
const PROVIDERS = 'test/agents/providers.test.ts';

export const modelSteps = [
  {
    defence: 'A write that failed is the failure that the step reports',
    file: 'activities/chunk-writer.ts',
    edits: [[' || failure !== undefined || chunks', ' || chunks']],
    suite: 'test/activities/chunk-writer.test.ts',
    test: 'chunk writer a chunk writer sends nothing behind a write that failed, and reports that failure',
  },
  {
    defence: 'A model that goes silent is given up',
    file: 'activities/model/ask-model.ts',
    edits: [['else controller.abort(new ModelStalledError());', 'else timer.refresh();']],
    suite: BAD_MODEL,
    test: 'a model that goes silent before its first word is given up and asked again',
  },
  {
    defence: 'A model that goes silent is given up, deaf or not',
    file: 'activities/model/ask-model.ts',
    edits: [["  signal.addEventListener('abort', leave, { once: true });\n", '']],
    suite: BAD_MODEL,
    test: 'a model that goes silent in the middle, deaf to its signal is given up and asked again',
  },
  {
    defence: 'A model that speaks now and then is heard out',
    file: 'activities/model/ask-model.ts',
    edits: [['      silence.heard();\n', '']],
    suite: BAD_MODEL,
    test: 'a model that goes silent now and then, but for less than the limit, is waited for',
  },
  {
    defence: 'A spent run makes no other model call',
    file: 'activities/model/step-outcome.ts',
    edits: [['  if (isSpent) return failed(step, SPEND_CAP_REACHED);\n', '']],
    suite: SPENDING,
    test: 'a cap on what a run may use of tokens ends it before the next model call, with what it has done',
  },
  {
    defence: 'A spent run does not ask a failing provider again',
    file: 'activities/model/refusal.ts',
    edits: [['hasReached(agent.spendCap, used) ?', 'hasReached(agent.spendCap, undefined) ?']],
    suite: SPENDING,
    test: 'a cap on what a run may use a cap applies to failing attempts of one step, too',
  },
  {
    defence: 'A result that does not fit goes back to the model twice, and no more',
    file: 'activities/model/step-outcome.ts',
    edits: [['invalidFinishes + 1 >= LIMITS.invalidFinishes', 'invalidFinishes > 99']],
    suite: OUTPUT,
    test: 'an agent with an output schema a model gets an error for a result that does not fit, and the run fails the third time',
  },
  {
    defence: 'The call beyond the step cap is the last one',
    file: 'activities/model/step-outcome.ts',
    edits: [['  if (step > maxSteps) return OUTPUT_MISSING;\n', '']],
    suite: OUTPUT,
    test: 'an agent with an output schema a run whose result does not fit beyond the step cap fails',
  },
  {
    defence: 'Models: a missing package is refused with its install line',
    file: 'agents/providers/load-package.ts',
    edits: [['if (!isMissing(cause, name)) throw cause;', 'throw cause;']],
    suite: 'test/agents/model-spec.test.ts',
    test: 'modelFromSpec modelFromSpec names the command that installs a missing package of openai',
  },
  {
    defence: 'Models: a provider that lacks its key is refused at the start',
    file: 'agents/providers/any.ts',
    edits: [['    if (isErrorOf(error, LACKS)) throw error;\n', '']],
    suite: PROVIDERS,
    test: 'a model of any other provider modelFromSpec refuses "mistral:x" with {} and names MISTRAL_API_KEY',
  },
  {
    defence: 'Models: what finds a missing key sends nothing',
    file: 'agents/providers/any.ts',
    edits: [['modelWith({ fetch: sendNothing })', 'modelWith({})']],
    suite: PROVIDERS,
    test: 'a model of any other provider a model of mistral streams from its address, once',
  },
  {
    defence: 'Models: MODEL loads packages of the AI SDK only',
    file: 'agents/model-spec.ts',
    edits: [['!isProviderName(name)', "name === ''"]],
    suite: PROVIDERS,
    test: 'a model of any other provider modelFromSpec loads packages of the AI SDK only, and names the one to install',
  },
];
