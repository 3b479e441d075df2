import type { OperatorCall, OperatorRunDetail } from '../../../protocol/operator.js';
import { shownText } from '../../output/shown-text.js';
import type { Terminal } from '../../terminal.js';

const SIGNS = {
  open: ['cyan', '…'],
  waiting: ['yellow', '?'],
  done: ['green', '✓'],
  failed: ['red', '✗'],
  denied: ['dim', '–'],
} as const;

/** Formats a run as lines: steps with their calls, then the status. Later calls only append lines. */
export function toStepLines(run: OperatorRunDetail, terminal: Pick<Terminal, 'style'>): string[] {
  const { steps, status, error } = run;
  const reason = error === undefined ? '' : `: ${shownText(`${error.message} (${error.code})`)}`;
  return [
    ...steps.flatMap(({ step, calls }) => [
      `step ${String(step)}`,
      ...calls.map((call) => toCallLine(call, terminal)),
    ]),
    `${terminal.style('bold', status)}${reason}`,
  ];
}

function toCallLine(call: OperatorCall, terminal: Pick<Terminal, 'style'>): string {
  const { toolName, toolCallId, state, errorCode, decision } = call;
  const [style, sign] = SIGNS[state];
  const words = [
    shownText(toolName),
    terminal.style('dim', shownText(toolCallId)),
    state,
    errorCode ?? '',
    decision === undefined ? '' : toDecision(decision),
  ];
  return `  ${terminal.style(style, sign)} ${words.filter((word) => word !== '').join(' ')}`;
}

function toDecision(decision: NonNullable<OperatorCall['decision']>): string {
  const { approved, by, reason, edited, automatic } = decision;
  const verdict = `${automatic === true ? 'automatically ' : ''}${approved ? 'approved' : 'denied'}`;
  const how = [
    edited === true ? 'with an edited input' : '',
    by === undefined ? '' : `by ${shownText(by)}`,
    reason === undefined ? '' : `(${shownText(reason)})`,
  ];
  return [verdict, ...how].filter((part) => part !== '').join(' ');
}
