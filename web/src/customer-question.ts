/** What the help desk's tool `askCustomer` shows. */
export interface CustomerQuestion {
  question: string;
  options: { id: string; label: string; detail?: string }[];
}

/** The question in the input of a call; undefined if it asks for something else. */
export function toCustomerQuestion(tool: string, input: unknown): CustomerQuestion | undefined {
  return tool === 'askCustomer' && isQuestion(input) ? input : undefined;
}

/** The result of a call whose question was answered with an option. */
export function toChoice(optionId: string): { chosen: string } {
  return { chosen: optionId };
}

/** What an option is called, for showing what was chosen. */
export function labelOf({ options }: CustomerQuestion, output: unknown): string | undefined {
  if (typeof output !== 'object' || output === null || !('chosen' in output)) return undefined;
  return options.find(({ id }) => id === output.chosen)?.label;
}

function isQuestion(input: unknown): input is CustomerQuestion {
  if (typeof input !== 'object' || input === null) return false;
  return 'question' in input && 'options' in input && Array.isArray(input.options);
}
