// From AI Elements (https://github.com/vercel/ai-elements), Copyright 2023 Vercel, Inc., Apache-2.0. Changed: parts that this page does not use, and plugins of
// Streamdown, are left out.

import { cn } from "@/lib/utils";
import type { UIMessage } from "ai";
import type { ComponentProps } from "react";
import { memo } from "react";
import { Streamdown } from "streamdown";

export const Message = ({
  from,
  ...props
}: ComponentProps<"div"> & { from: UIMessage["role"] }) => (
  <div
    className={cn(
      "group flex w-full max-w-[95%] flex-col gap-2",
      from === "user" ? "is-user ml-auto justify-end" : "is-assistant"
    )}
    {...props}
  />
);

export const MessageContent = (props: ComponentProps<"div">) => (
  <div
    className={cn(
      "is-user:dark flex w-fit min-w-0 max-w-full flex-col gap-2 overflow-hidden text-sm",
      "group-[.is-user]:ml-auto group-[.is-user]:rounded-lg group-[.is-user]:bg-secondary group-[.is-user]:px-4 group-[.is-user]:py-3 group-[.is-user]:text-foreground",
      "group-[.is-assistant]:text-foreground"
    )}
    {...props}
  />
);

export const MessageResponse = memo(({ children }: { children: string }) => (
  <Streamdown className="size-full [&>*:first-child]:mt-0 [&>*:last-child]:mb-0">
    {children}
  </Streamdown>
));

MessageResponse.displayName = "MessageResponse";
