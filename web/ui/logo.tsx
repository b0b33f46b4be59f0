import type { JSX } from 'react'

export function Logo({ size = 24 }: { size?: number }): JSX.Element {
  return (
    <svg
      aria-hidden
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d="M4 21V11a8 8 0 0 1 16 0v10" />
      <path d="M12 14.5c-1.2-1-2.8-1.4-4.6-1.4v6c1.8 0 3.4.4 4.6 1.4 1.2-1 2.8-1.4 4.6-1.4v-6c-1.8 0-3.4.4-4.6 1.4Zm0 0v6" />
    </svg>
  )
}
