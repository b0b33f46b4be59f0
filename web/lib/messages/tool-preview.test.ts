import { expect, it } from 'vitest'
import { toolPreview } from './tool-preview.ts'

it('cuts after 100 characters', () => {
  expect(toolPreview('a'.repeat(100))).toBe('a'.repeat(100))
  expect(toolPreview('a'.repeat(101))).toBe(`${'a'.repeat(100)}...`)
})

it('does not split a character', () => {
  expect(toolPreview('🐝'.repeat(150))).toBe(`${'🐝'.repeat(100)}...`)
})
