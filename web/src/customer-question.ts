/** Input of the help desk's tool `askCustomer`. */
export interface CustomerQuestion {
  question: string;
  options: { id: string; label: string; detail?: string }[];
}

/** Returns the question of an `askCustomer` call; undefined for other tools and inputs. */
export function toCustomerQuestion(tool: string, input: unknown): CustomerQuestion | undefined {
  return tool === 'askCustomer' && isQuestion(input) ? input : undefined;
}

/** Returns the call's result for the chosen option. */
export function toChoice(optionId: string): { chosen: string } {
  return { chosen: optionId };
}

export function labelOf({ options }: CustomerQuestion, output: unknown): string | undefined {
  if (typeof output !== 'object' || output === null || !('chosen' in output)) return undefined;
  return options.find(({ id }) => id === output.chosen)?.label;
}

function isQuestion(input: unknown): input is CustomerQuestion {
  if (typeof input !== 'object' || input === null) return false;
  return 'question' in input && 'options' in input && Array.isArray(input.options);
}
