import { Chat } from '@ai-sdk/react';
import {
  lastAssistantMessageIsCompleteWithApprovalResponses as answersAreComplete,
  type UIMessage,
} from 'ai';
import { loadSnapshot, stopRun, type Fetch, type Snapshot } from './api-client.js';
import { CatchUp, isBusy, type Leftovers } from './catch-up.js';
import { createTransport } from './chat-transport.js';
import { classifyFailure, LAST_FAILED } from './failure.js';
import { PageStore } from './page-store.js';
import { pauseWhileHidden, whenVisible } from './page-visibility.js';
import { Recovery, type RecoverySteps } from './recovery.js';

export interface ConversationOptions {
  sessionId: string;
  agent: string;
  snapshot?: Snapshot | undefined;
  send?: Fetch;
  pause?: RecoverySteps['pause'];
}

/** One conversation: the stock chat, what a person can do in it, and how it survives a break. */
export class Conversation {
  readonly chat: Chat<UIMessage>;
  readonly page: PageStore;
  /** Whether there may be a reply to follow as soon as the page is up. */
  readonly resume: boolean;

  readonly #sessionId: string;
  readonly #fetch: Fetch;
  readonly #catchUp: CatchUp;
  readonly #recovery: Recovery;
  #leftovers: Leftovers = 'resend';

  constructor({ sessionId, agent, snapshot, send, pause }: ConversationOptions) {
    this.#sessionId = sessionId;
    this.#fetch = send ?? ((input, init) => fetch(input, init));
    this.resume = snapshot?.status === 'active' || snapshot?.status === 'paused';
    this.page = new PageStore({
      agent,
      bound: snapshot !== undefined,
      sequence: snapshot?.streamSequence,
      runId: snapshot?.run?.runId,
      notice: snapshot?.status === 'failed' ? { text: LAST_FAILED, retry: false } : undefined,
    });
    this.chat = new Chat<UIMessage>({
      id: sessionId,
      messages: snapshot?.messages ?? [],
      transport: createTransport(this.page, this.#fetch),
      sendAutomaticallyWhen: answersAreComplete,
      onError: (error) => {
        this.#recover(error);
      },
      onFinish: ({ isAbort, isError, finishReason }) => {
        this.page.set({ stopping: false });
        if (isAbort || isError) return;
        // A whole response has a `finish`. A proxy may have tidied up the end of one that was cut.
        if (finishReason === undefined) this.#start('resend');
        else this.#calm();
      },
    });
    this.#catchUp = new CatchUp(this.chat, this.page, (signal) =>
      loadSnapshot(this.#fetch, sessionId, signal),
    );
    this.#recovery = new Recovery({
      pause: pause ?? pauseWhileHidden,
      catchUp: (signal) => this.#catchUp.look(this.#leftovers, signal),
      onChange: (reconnecting) => {
        this.page.set({ reconnecting });
      },
    });
  }

  /** Follows the visibility of the page until the returned function is called. */
  watch(): () => void {
    const stopWatching = whenVisible(() => void this.refresh());
    return () => {
      stopWatching();
      this.#recovery.stop();
      void this.chat.stop();
    };
  }

  readonly send = (text: string): void => {
    this.#calm();
    this.page.set({ draft: '', notice: undefined });
    void this.chat.sendMessage({ text });
  };

  readonly answer = (approvalId: string, approved: boolean, reason?: string): void => {
    this.#calm();
    this.page.set({ notice: undefined });
    void this.chat.addToolApprovalResponse({
      id: approvalId,
      approved,
      ...(reason ? { reason } : {}),
    });
  };

  /** Sends once more what did not get through, under the same id, so that it counts once. */
  readonly retry = (): void => {
    this.#calm();
    this.page.set({ notice: undefined });
    const { messages, lastMessage } = this.chat;
    if (lastMessage?.role === 'user') {
      this.chat.messages = messages.slice(0, -1);
      void this.chat.sendMessage(lastMessage);
    } else if (answersAreComplete({ messages })) void this.chat.sendMessage();
    else this.#start('resend');
  };

  readonly stop = async (): Promise<void> => {
    this.page.set({ stopping: true });
    try {
      await stopRun(this.#fetch, this.#sessionId);
    } catch {
      const notice = { text: 'The reply could not be stopped.', retry: false };
      this.page.set({ stopping: false, notice });
    }
  };

  /** Another window may have moved the conversation on while nobody looked at this one. */
  async refresh(): Promise<void> {
    await this.#catchUp.refresh(() => !isBusy(this.chat) && !this.#recovery.running);
  }

  #recover(error: Error): void {
    const failure = classifyFailure(error);
    this.page.set({ stopping: false });
    if (failure.kind === 'broken') {
      this.#start('resend');
      return;
    }
    this.page.set({ notice: { text: failure.text, retry: failure.kind === 'unavailable' } });
    if (failure.kind !== 'reply') this.#start(failure.kind === 'refused' ? 'return' : 'offer');
  }

  #start(leftovers: Leftovers): void {
    this.#leftovers = leftovers;
    this.#recovery.start();
  }

  #calm(): void {
    this.#catchUp.calm();
    this.#recovery.settled();
  }
}
