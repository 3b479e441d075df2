import { useEffect, useRef, type KeyboardEvent, type ReactElement } from 'react';
import { BusyChoice } from './busy-choice.js';
import type { WhenBusy } from './page-store.js';

interface Props {
  draft: string;
  /** A reply is under way, which can be stopped. */
  busy: boolean;
  stopping: boolean;
  whenBusy: WhenBusy;
  /** Nothing can be sent right now; the person can keep typing. */
  blocked: boolean;
  onDraft: (draft: string) => void;
  onWhenBusy: (chosen: WhenBusy) => void;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer(props: Props): ReactElement {
  const { draft, busy, stopping, whenBusy, blocked, onDraft, onWhenBusy, onSend, onStop } = props;
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    box.current?.focus();
  }, []);

  const submit = (): void => {
    const text = draft.trim();
    if (text !== '' && !blocked) onSend(text);
  };
  const sendOnEnter = (event: KeyboardEvent): void => {
    // Enter also ends the composition of a character in many scripts.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label className="hidden" htmlFor="composer">
        Your message
      </label>
      <textarea
        id="composer"
        data-testid="composer"
        ref={box}
        rows={1}
        placeholder="Write a message"
        value={draft}
        onChange={(event) => {
          onDraft(event.target.value);
        }}
        onKeyDown={sendOnEnter}
      />
      {busy && (
        <button type="button" data-testid="stop" disabled={stopping} onClick={onStop}>
          Stop
        </button>
      )}
      {(!busy || draft.trim() !== '') && (
        <button
          type="submit"
          className="primary"
          data-testid="send"
          disabled={blocked || draft.trim() === ''}
        >
          Send
        </button>
      )}
      {busy && draft.trim() !== '' && <BusyChoice chosen={whenBusy} onChoose={onWhenBusy} />}
    </form>
  );
}
