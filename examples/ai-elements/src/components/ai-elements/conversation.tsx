// From AI Elements (https://github.com/vercel/ai-elements), Copyright 2023 Vercel, Inc., Apache-2.0. Changed: parts that this
// page does not use are left out.
"use client";

import { Button } from "@/components/ui/button";
import { ArrowDownIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { StickToBottom, useStickToBottomContext } from "use-stick-to-bottom";

export const Conversation = (props: ComponentProps<typeof StickToBottom>) => (
  <StickToBottom
    className="relative flex-1 overflow-y-hidden"
    initial="smooth"
    resize="smooth"
    role="log"
    {...props}
  />
);

export const ConversationContent = (
  props: ComponentProps<typeof StickToBottom.Content>
) => <StickToBottom.Content className="flex flex-col gap-8 p-4" {...props} />;

export const ConversationScrollButton = (
  props: ComponentProps<typeof Button>
) => {
  const { isAtBottom, scrollToBottom } = useStickToBottomContext();

  return (
    !isAtBottom && (
      <Button
        className="absolute bottom-4 left-[50%] size-9 translate-x-[-50%] rounded-full p-0 has-[>svg]:px-0 dark:bg-background dark:hover:bg-muted"
        onClick={() => void scrollToBottom()}
        type="button"
        variant="outline"
        {...props}
      >
        <ArrowDownIcon className="size-4" />
      </Button>
    )
  );
};
