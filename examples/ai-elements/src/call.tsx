import {
  Confirmation,
  ConfirmationAccepted,
  ConfirmationAction,
  ConfirmationActions,
  ConfirmationRejected,
  ConfirmationRequest,
  ConfirmationTitle,
} from '@/components/ai-elements/confirmation';
import {
  Tool,
  ToolContent,
  ToolHeader,
  ToolInput,
  ToolOutput,
} from '@/components/ai-elements/tool';
import type { DynamicToolUIPart } from 'ai';

type Decide = (decision: { id: string; approved: boolean }) => void;

/** Shows a tool call, and its question while it waits for a person. */
export function Call({ part, decide }: { part: DynamicToolUIPart; decide: Decide }) {
  const { approval, state } = part;
  return (
    <>
      <Tool>
        <ToolHeader state={state} toolName={part.toolName} />
        <ToolContent>
          <ToolInput input={part.input} />
          <ToolOutput errorText={part.errorText} output={part.output} />
        </ToolContent>
      </Tool>
      <Confirmation approval={approval} role="group" state={state}>
        <ConfirmationTitle>
          <ConfirmationRequest>May {part.toolName} be carried out?</ConfirmationRequest>
          <ConfirmationAccepted>Approved</ConfirmationAccepted>
          <ConfirmationRejected>Denied</ConfirmationRejected>
        </ConfirmationTitle>
        {approval && (
          <ConfirmationActions>
            <ConfirmationAction
              onClick={() => decide({ id: approval.id, approved: false })}
              variant="outline"
            >
              Deny
            </ConfirmationAction>
            <ConfirmationAction onClick={() => decide({ id: approval.id, approved: true })}>
              Approve
            </ConfirmationAction>
          </ConfirmationActions>
        )}
      </Confirmation>
    </>
  );
}
