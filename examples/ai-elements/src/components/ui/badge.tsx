// From shadcn/ui (https://github.com/shadcn-ui/ui), Copyright 2023 shadcn, MIT. Changed: parts that this
// page does not use are left out.
import type { ComponentProps } from "react"

import { cn } from "@/lib/utils"

export function Badge({ className, ...props }: ComponentProps<"span">) {
  return (
    <span
      className={cn(
        "inline-flex items-center justify-center rounded-full border px-2 py-0.5 text-xs font-medium w-fit whitespace-nowrap shrink-0 [&>svg]:size-3 gap-1 [&>svg]:pointer-events-none overflow-hidden border-transparent bg-secondary text-secondary-foreground",
        className
      )}
      {...props}
    />
  )
}
