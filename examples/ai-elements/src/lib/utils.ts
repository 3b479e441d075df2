// From shadcn/ui (https://github.com/shadcn-ui/ui), Copyright 2023 shadcn, MIT.
import { clsx, type ClassValue } from "clsx"
import { twMerge } from "tailwind-merge"

export function cn(...inputs: ClassValue[]) {
  return twMerge(clsx(inputs))
}
