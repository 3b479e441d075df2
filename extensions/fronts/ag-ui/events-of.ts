import type { UIStreamPart } from '../../../ai-sdk/index.js';
import { ReplyEnding, type ReplyEnd } from '../replies.js';
import type { AgUiEvent } from './protocol.js';
import { toResultId, toResultText, toShownId } from './shown-messages.js';

/** Start of the part of a turn that a reply shows. Without fields the reply shows the whole turn. */
export interface TailPlace {
  /** Number of the turn's messages that the client already has. */
  preceding?: number | undefined;
  /** Sequence after which the reply begins, if the client does not say which messages it has. */
  tailFrom?: number | undefined;
}

/** Turns the parts of one reply into AG-UI's events between the start and the end of a run. */
export class AgUiEvents {
  /** Id of the turn's message, from the first part. */
  #messageId = '';
  readonly #tailFrom: number | undefined;
  /** Calls whose results the client sent itself. */
  readonly #known: ReadonlySet<string>;
  /** Progress of each call's arguments. */
  readonly #calls = new Map<string, 'empty' | 'partial' | 'complete'>();
  #messages: number;
  #steps = 0;
  #isStepOpen = false;
  /** Id of the message that the step's next call belongs to. */
  #parent: string | undefined;
  /** Open text and reasoning messages, by the ids of their parts. */
  readonly #open = new Map<string, string>();
  readonly #ending = new ReplyEnding();

  constructor({ known, preceding = 0, tailFrom }: { known: ReadonlySet<string> } & TailPlace) {
    this.#known = known;
    this.#messages = preceding;
    this.#tailFrom = tailFrom;
  }

  get end(): ReplyEnd | undefined {
    return this.#ending.end;
  }

  accept(part: UIStreamPart): AgUiEvent[] {
    if (this.end !== undefined) return [];
    this.#ending.accept(part);
    switch (part.type) {
      case 'start':
        this.#messageId = part.messageId;
        return [];
      case 'start-step':
        return this.#startStep();
      case 'finish-step':
        return this.#finishStep();
      case 'text-start':
        this.#parent = this.#begin(part.id);
        return [{ type: 'TEXT_MESSAGE_START', messageId: this.#parent, role: 'assistant' }];
      case 'text-delta': {
        const { id, delta } = part;
        if (delta === '') return [];
        return [{ type: 'TEXT_MESSAGE_CONTENT', messageId: this.#messageOf(id), delta }];
      }
      case 'text-end':
        return [{ type: 'TEXT_MESSAGE_END', messageId: this.#messageOf(part.id) }];
      case 'reasoning-start': {
        this.#parent = undefined;
        const messageId = this.#begin(part.id);
        return [
          { type: 'REASONING_START', messageId },
          { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
        ];
      }
      case 'reasoning-delta': {
        const { id, delta } = part;
        if (delta === '') return [];
        return [{ type: 'REASONING_MESSAGE_CONTENT', messageId: this.#messageOf(id), delta }];
      }
      case 'reasoning-end': {
        const messageId = this.#messageOf(part.id);
        return [
          { type: 'REASONING_MESSAGE_END', messageId },
          { type: 'REASONING_END', messageId },
        ];
      }
      case 'tool-input-start':
        return this.#startCall(part.toolCallId, part.toolName);
      case 'tool-input-delta': {
        const { toolCallId, inputTextDelta: delta } = part;
        if (delta === '') return [];
        this.#calls.set(toolCallId, 'partial');
        return [{ type: 'TOOL_CALL_ARGS', toolCallId, delta }];
      }
      case 'tool-input-available':
        return this.#completeCall(part);
      case 'tool-input-error':
        return [
          ...this.#completeCall(part),
          ...this.#settle(part.toolCallId, { error: part.errorText }),
        ];
      case 'tool-output-available':
        return part.preliminary === true
          ? [{ type: 'CUSTOM', name: 'tool-output-preliminary', value: part }]
          : this.#settle(part.toolCallId, part.output);
      case 'tool-output-error':
        return this.#settle(part.toolCallId, { error: part.errorText });
      case 'tool-output-denied':
        return this.#settle(part.toolCallId, { denied: true });
      case 'finish':
        return this.#close();
      case 'source-url':
      case 'source-document':
      case 'file': {
        const { type: name, ...value } = part;
        return [{ type: 'CUSTOM', name, value }];
      }
      default:
        return 'data' in part ? toDataEvents(part) : [];
    }
  }

  #begin(partId: string): string {
    const messageId = this.#nextId();
    this.#open.set(partId, messageId);
    return messageId;
  }

  #messageOf(partId: string): string {
    return this.#open.get(partId) ?? '';
  }

  #nextId(): string {
    this.#messages += 1;
    return toShownId(this.#messageId, this.#messages, this.#tailFrom);
  }

  #startStep(): AgUiEvent[] {
    const before = this.#finishStep();
    this.#steps += 1;
    this.#isStepOpen = true;
    this.#parent = undefined;
    return [...before, { type: 'STEP_STARTED', stepName: this.#stepName }];
  }

  /** Ignores a step that an earlier reply opened: the tail of a turn may begin inside one. */
  #finishStep(): AgUiEvent[] {
    if (!this.#isStepOpen) return [];
    this.#isStepOpen = false;
    return [{ type: 'STEP_FINISHED', stepName: this.#stepName }];
  }

  get #stepName(): string {
    return `step-${String(this.#steps)}`;
  }

  #startCall(toolCallId: string, toolCallName: string): AgUiEvent[] {
    if (this.#calls.has(toolCallId)) return [];
    this.#calls.set(toolCallId, 'empty');
    const parentMessageId = (this.#parent ??= this.#nextId());
    return [{ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId }];
  }

  #completeCall(call: { toolCallId: string; toolName: string; input: unknown }): AgUiEvent[] {
    const { toolCallId, toolName, input } = call;
    const state = this.#calls.get(toolCallId);
    if (state === 'complete') return [];
    const start = this.#startCall(toolCallId, toolName);
    this.#calls.set(toolCallId, 'complete');
    const delta = JSON.stringify(input ?? {});
    return [
      ...start,
      // Clients need at least one piece of arguments to know the input, even `{}`.
      ...(state === 'partial' ? [] : [{ type: 'TOOL_CALL_ARGS' as const, toolCallId, delta }]),
      { type: 'TOOL_CALL_END', toolCallId },
    ];
  }

  #settle(toolCallId: string, output: unknown): AgUiEvent[] {
    if (this.#known.has(toolCallId)) return [];
    const messageId = toResultId(this.#messageId, toolCallId);
    const content = toResultText(output);
    return [{ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' }];
  }

  /** A run must not end with open steps or calls. */
  #close(): AgUiEvent[] {
    const open = [...this.#calls].filter(([, state]) => state !== 'complete');
    return [
      ...open.map(([toolCallId]) => ({ type: 'TOOL_CALL_END' as const, toolCallId })),
      ...this.#finishStep(),
    ];
  }
}

function toDataEvents({ type, data }: { type: string; data: unknown }): AgUiEvent[] {
  // These belong to the end of the run.
  if (type === 'data-output' || type === 'data-error') return [];
  if (type === 'data-state-patch') {
    return [{ type: 'STATE_DELTA', delta: (data as { patches: unknown }).patches }];
  }
  return [{ type: 'CUSTOM', name: type.slice('data-'.length), value: data }];
}
