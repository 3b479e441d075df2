import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { answersAreComplete } from './answers-complete.js';
import { loadSnapshot, stopRun, type Fetch, type Snapshot } from './api-client.js';
import { Besides } from './besides.js';
import { CatchUp, isBusy, toKnown, type Leftovers } from './catch-up.js';
import { createTransport } from './chat-transport.js';
import { classifyFailure, describeFailure } from './failure.js';
import { PageStore, type PageState } from './page-store.js';
import { pauseWhileHidden, whenVisible } from './page-visibility.js';
import { Recovery, type RecoverySteps } from './recovery.js';
import { createSessionActions } from './session-actions.js';

export interface ConversationOptions {
  sessionId: string;
  agent: string;
  snapshot?: Snapshot | undefined;
  send?: Fetch;
  pause?: RecoverySteps['pause'];
}

/** What the page says for one of its tools. */
export type ToolResult = { output: unknown } | { state: 'output-error'; errorText: string };

/** One conversation: the stock chat, what a person can do in it, and how it survives a break. */
export class Conversation {
  readonly chat: Chat<UIMessage>;
  readonly page: PageStore;
  /** What can be done beside talking. */
  readonly besides: Besides;
  /** Whether there may be a reply to follow as soon as the page is up. */
  readonly resume: boolean;

  readonly #sessionId: string;
  readonly #fetch: Fetch;
  readonly #catchUp: CatchUp;
  readonly #recovery: Recovery;
  #leftovers: Leftovers = 'resend';
  /** The server looks for the next reply by itself: nothing is broken. */
  #isQuiet = false;

  constructor({ sessionId, agent, snapshot, send, pause }: ConversationOptions) {
    this.#sessionId = sessionId;
    this.#fetch = send ?? ((input, init) => fetch(input, init));
    this.resume = snapshot?.status === 'active' || snapshot?.status === 'paused';
    this.page = new PageStore({
      agent,
      bound: snapshot !== undefined,
      sequence: snapshot?.streamSequence,
      ...(snapshot && toKnown(snapshot)),
      notice:
        snapshot?.status === 'failed'
          ? { text: describeFailure(snapshot.run), retry: false }
          : undefined,
    });
    this.chat = new Chat<UIMessage>({
      id: sessionId,
      messages: snapshot?.messages ?? [],
      transport: createTransport(this.page, this.#fetch),
      sendAutomaticallyWhen: answersAreComplete,
      onData: ({ type }) => {
        if (type === 'data-queue-changed') void this.besides.readQueue();
      },
      onError: (error) => {
        this.#recover(error);
      },
      onFinish: ({ isAbort, isError, finishReason }) => {
        this.page.set({ stopping: false });
        if (isAbort || isError) return;
        // A whole response has a `finish`. A proxy may have tidied up the end of one that was cut.
        if (finishReason === undefined) this.#start('resend');
        else {
          this.#calm();
          void this.besides.afterReply();
        }
      },
    });
    this.#catchUp = new CatchUp(this.chat, this.page, (signal) =>
      loadSnapshot(this.#fetch, sessionId, signal),
    );
    this.#recovery = new Recovery({
      pause: pause ?? pauseWhileHidden,
      catchUp: (signal) => this.#catchUp.look(this.#leftovers, signal),
      onChange: (running) => {
        const isQuiet = this.#isQuiet;
        this.page.set({ reconnecting: running && !isQuiet, following: running && isQuiet });
      },
    });
    this.besides = new Besides({
      page: this.page,
      actions: createSessionActions(sessionId, this.#fetch),
      follow: () => {
        if (!isBusy(this.chat)) this.#start('resend', true);
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
    this.#begin({ draft: '' });
    if (isBusy(this.chat)) void this.besides.say(text);
    else void this.chat.sendMessage({ text });
  };

  readonly answer = (approvalId: string, approved: boolean, reason?: string): void => {
    this.#begin();
    void this.chat.addToolApprovalResponse({
      id: approvalId,
      approved,
      ...(reason ? { reason } : {}),
    });
  };

  /** Gives the result of a tool that the page carries out, or says why there is none. */
  readonly giveResult = (toolCallId: string, tool: string, result: ToolResult): void => {
    this.#begin();
    void this.chat.addToolOutput({ tool, toolCallId, ...result });
  };

  /** Has the newest turn done again. */
  readonly regenerate = (): void => {
    this.#begin();
    void this.chat.regenerate();
  };

  /** Sends once more what did not get through, under the same id, so that it counts once. */
  readonly retry = (): void => {
    this.#begin();
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
    if (failure.kind === 'reply') void this.besides.afterReply();
    else this.#start(failure.kind === 'refused' ? 'return' : 'offer');
  }

  #begin(change: Partial<PageState> = {}): void {
    this.#calm();
    this.page.set({ notice: undefined, ...change });
  }

  #start(leftovers: Leftovers, isQuiet = false): void {
    this.#leftovers = leftovers;
    this.#isQuiet = isQuiet;
    this.#recovery.start();
  }

  #calm(): void {
    this.#catchUp.calm();
    this.#recovery.settled();
  }
}
