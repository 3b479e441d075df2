import { z } from 'zod';
import { defineTool } from '../../agents/index.js';

const TEN_MINUTES = 600_000;

const Option = z.object({
  id: z.string().describe('Short and unique, for the answer'),
  label: z.string().describe('What the button says'),
  detail: z.string().optional().describe('What choosing it means, in a few words'),
});

/** What the page shows: a question, and what to choose from. */
export const CustomerQuestion = z.object({
  question: z.string(),
  options: z.array(Option).min(2).max(6),
});
export type CustomerQuestion = z.infer<typeof CustomerQuestion>;

/** What the page sends back: the id of an option. */
export const CustomerChoice = z.object({ chosen: z.string() });
export type CustomerChoice = z.infer<typeof CustomerChoice>;

/** Carried out by the page, so it needs no server and survives a reload. */
export const askCustomer = defineTool({
  name: 'askCustomer',
  title: 'A question for you',
  description:
    'Shows the customer a question with two to six options and returns the id of the one they choose.',
  inputSchema: CustomerQuestion,
  outputSchema: CustomerChoice,
  execute: 'client',
  deadlineMs: TEN_MINUTES,
});
