import {
  Component,
  lazy,
  Suspense,
  type ComponentType,
  type ReactElement,
  type ReactNode,
} from 'react';
import { PlainText } from './plain-text-view.js';

interface Props {
  text: string;
}

/** The Markdown code is half of the page's code, so the page opens without it. */
const Markdown = lazy(async (): Promise<{ default: ComponentType<Props> }> => {
  try {
    const { Markdown } = await import('./markdown.js');
    return { default: Markdown };
  } catch {
    // The server is away or has a newer release; the reply stays readable as plain text.
    return { default: PlainText };
  }
});

/** Shows a reply as Markdown, or as plain text while that code loads or if it fails. */
export class ReplyText extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    const plain: ReactElement = <PlainText text={this.props.text} />;
    if (this.state.failed) return plain;
    return (
      <Suspense fallback={plain}>
        <Markdown text={this.props.text} />
      </Suspense>
    );
  }
}
