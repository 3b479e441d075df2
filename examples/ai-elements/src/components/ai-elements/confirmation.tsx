// From AI Elements (https://github.com/vercel/ai-elements), Copyright 2023 Vercel, Inc., Apache-2.0. Changed: parts that this
// page does not use are left out.
"use client";

import { Alert, AlertDescription } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/utils";
import type { DynamicToolUIPart } from "ai";
import type { ComponentProps, ReactNode } from "react";
import { createContext, useContext } from "react";

type Confirmed = Pick<DynamicToolUIPart, "approval" | "state">;

const ConfirmationContext = createContext<Confirmed>({
  approval: undefined,
  state: "input-available",
});

export const Confirmation = ({
  className,
  approval,
  state,
  ...props
}: ComponentProps<"div"> & Confirmed) => {
  if (!approval || state === "input-streaming" || state === "input-available") {
    return null;
  }

  return (
    <ConfirmationContext.Provider value={{ approval, state }}>
      <Alert className={cn("flex flex-col gap-2", className)} {...props} />
    </ConfirmationContext.Provider>
  );
};

export const ConfirmationTitle = (props: ComponentProps<"div">) => (
  <AlertDescription className="inline" {...props} />
);

type Children = { children?: ReactNode };

const isAsked = ({ state }: Confirmed) => state === "approval-requested";

const isAnswered = ({ approval, state }: Confirmed, approved: boolean) =>
  approval?.approved === approved &&
  (state === "approval-responded" ||
    state === "output-denied" ||
    state === "output-available");

export const ConfirmationRequest = ({ children }: Children) =>
  isAsked(useContext(ConfirmationContext)) && children;

export const ConfirmationAccepted = ({ children }: Children) =>
  isAnswered(useContext(ConfirmationContext), true) && children;

export const ConfirmationRejected = ({ children }: Children) =>
  isAnswered(useContext(ConfirmationContext), false) && children;

export const ConfirmationActions = (props: ComponentProps<"div">) =>
  isAsked(useContext(ConfirmationContext)) && (
    <div className="flex items-center justify-end gap-2 self-end" {...props} />
  );

export const ConfirmationAction = (props: ComponentProps<typeof Button>) => (
  <Button className="h-8 px-3 text-sm" type="button" {...props} />
);
