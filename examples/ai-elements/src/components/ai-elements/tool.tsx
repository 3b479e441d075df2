// From AI Elements (https://github.com/vercel/ai-elements), Copyright 2023 Vercel, Inc., Apache-2.0. Changed: a
// plain CodeBlock, without the highlighter; parts that this page does not use are left out.
"use client";

import { Badge } from "@/components/ui/badge";
import { cn } from "@/lib/utils";
import type { DynamicToolUIPart } from "ai";
import {
  CheckCircleIcon,
  ChevronDownIcon,
  CircleIcon,
  ClockIcon,
  WrenchIcon,
  XCircleIcon,
} from "lucide-react";
import { Collapsible } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";

const CodeBlock = ({ code }: { code: string }) => (
  <pre className="overflow-x-auto p-3 text-xs">{code}</pre>
);

export const Tool = (props: ComponentProps<typeof Collapsible.Root>) => (
  <Collapsible.Root
    className="group not-prose mb-4 w-full rounded-md border"
    {...props}
  />
);

const statuses: Record<DynamicToolUIPart["state"], [string, ReactNode]> = {
  "approval-requested": [
    "Awaiting Approval",
    <ClockIcon className="size-4 text-yellow-600" />,
  ],
  "approval-responded": [
    "Responded",
    <CheckCircleIcon className="size-4 text-blue-600" />,
  ],
  "input-available": ["Running", <ClockIcon className="size-4 animate-pulse" />],
  "input-streaming": ["Pending", <CircleIcon className="size-4" />],
  "output-available": [
    "Completed",
    <CheckCircleIcon className="size-4 text-green-600" />,
  ],
  "output-denied": ["Denied", <XCircleIcon className="size-4 text-orange-600" />],
  "output-error": ["Error", <XCircleIcon className="size-4 text-red-600" />],
};

export const ToolHeader = ({
  state,
  toolName,
}: Pick<DynamicToolUIPart, "state" | "toolName">) => {
  const [label, icon] = statuses[state];

  return (
    <Collapsible.Trigger className="flex w-full items-center justify-between gap-4 p-3">
      <div className="flex items-center gap-2">
        <WrenchIcon className="size-4 text-muted-foreground" />
        <span className="font-medium text-sm">{toolName}</span>
        <Badge className="gap-1.5 rounded-full text-xs">
          {icon}
          {label}
        </Badge>
      </div>
      <ChevronDownIcon className="size-4 text-muted-foreground transition-transform group-data-[state=open]:rotate-180" />
    </Collapsible.Trigger>
  );
};

export const ToolContent = (
  props: ComponentProps<typeof Collapsible.Content>
) => (
  <Collapsible.Content
    className="data-[state=closed]:fade-out-0 data-[state=closed]:slide-out-to-top-2 data-[state=open]:slide-in-from-top-2 space-y-4 p-4 text-popover-foreground outline-none data-[state=closed]:animate-out data-[state=open]:animate-in"
    {...props}
  />
);

const Heading = ({ children }: { children: string }) => (
  <h4 className="font-medium text-muted-foreground text-xs uppercase tracking-wide">
    {children}
  </h4>
);

export const ToolInput = ({ input }: { input: unknown }) => (
  <div className="space-y-2 overflow-hidden">
    <Heading>Parameters</Heading>
    <div className="rounded-md bg-muted/50">
      <CodeBlock code={JSON.stringify(input, null, 2)} />
    </div>
  </div>
);

export const ToolOutput = ({
  output,
  errorText,
}: Pick<DynamicToolUIPart, "output" | "errorText">) => {
  if (!(output || errorText)) {
    return null;
  }

  return (
    <div className="space-y-2">
      <Heading>{errorText ? "Error" : "Result"}</Heading>
      <div
        className={cn(
          "overflow-x-auto rounded-md text-xs [&_table]:w-full",
          errorText
            ? "bg-destructive/10 text-destructive"
            : "bg-muted/50 text-foreground"
        )}
      >
        {errorText && <div>{errorText}</div>}
        {typeof output === "object" || typeof output === "string" ? (
          <CodeBlock
            code={
              typeof output === "string" ? output : JSON.stringify(output, null, 2)
            }
          />
        ) : (
          <div>{output as ReactNode}</div>
        )}
      </div>
    </div>
  );
};
