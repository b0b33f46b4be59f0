import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { useAuth } from './auth-context.tsx'

function Reader(): string {
  return useAuth().user?.id ?? 'nobody'
}

test('says what is missing where it is used outside its provider', () => {
  expect(() => renderToStaticMarkup(<Reader />)).toThrow('useAuth must be used within an AuthProvider')
})
