import { useRef, type ReactElement } from 'react';

interface Props {
  /** Types for the chooser. */
  accept: string;
  onFiles: (files: readonly File[]) => void;
}

export function AttachButton({ accept, onFiles }: Props): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={accept}
        data-testid="file-input"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          // The same file may be chosen again.
          event.target.value = '';
        }}
      />
      <button
        type="button"
        data-testid="attach"
        aria-label="Attach files"
        title="Attach files"
        onClick={() => input.current?.click()}
      >
        +
      </button>
    </>
  );
}
