import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Button, type ButtonProps } from './button.tsx'

const VARIANTS = ['default', 'destructive', 'outline', 'secondary', 'ghost', 'link'] as const
const SIZES = ['default', 'sm', 'lg', 'icon'] as const
const classesOf = (props: ButtonProps) => /class="([^"]*)"/.exec(renderToStaticMarkup(<Button {...props} />))?.[1]

test('every variant and every size has a look of its own', () => {
  const looks = VARIANTS.flatMap((variant) => SIZES.map((size) => classesOf({ variant, size })))
  expect(new Set(looks).size).toBe(VARIANTS.length * SIZES.length)
  for (const look of looks) expect(look?.split(' ').filter((name) => name !== '')).toHaveLength(3)
  expect(classesOf({})).toBe(classesOf({ variant: 'default', size: 'default' }))
})

test('submits only with type="submit"', () => {
  expect(renderToStaticMarkup(<Button />)).toContain('type="button"')
  expect(renderToStaticMarkup(<Button type="submit" />)).toContain('type="submit"')
})
