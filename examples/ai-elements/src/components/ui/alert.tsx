// From shadcn/ui (https://github.com/shadcn-ui/ui), Copyright 2023 shadcn, MIT. Changed: parts that this
// page does not use are left out.
import type { ComponentProps } from "react"

import { cn } from "@/lib/utils"

export function Alert({ className, ...props }: ComponentProps<"div">) {
  return (
    <div
      role="alert"
      className={cn(
        "relative w-full rounded-lg border px-4 py-3 text-sm items-start bg-card text-card-foreground",
        className
      )}
      {...props}
    />
  )
}

export function AlertDescription({ className, ...props }: ComponentProps<"div">) {
  return (
    <div
      className={cn(
        "text-muted-foreground col-start-2 grid justify-items-start gap-1 text-sm [&_p]:leading-relaxed",
        className
      )}
      {...props}
    />
  )
}
