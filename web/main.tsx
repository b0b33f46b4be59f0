import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from '#web/app/router.tsx'
import { storeFirstArrival } from './data/auth/arrival.ts'
import { AuthProvider } from './data/auth/auth-context.tsx'
import { tolerateTranslators } from './translated-text.ts'
import { provideRandomUuid } from '#web/lib/random-uuid.ts'
import { followTheme } from '#web/data/theme.ts'
import { ignoreComposedKeys } from '#web/ui/ignore-composed-keys.ts'
import '#web/ui/tokens.css'
import '#web/ui/fonts.css'
import '#web/ui/base.css'

provideRandomUuid()
storeFirstArrival()
tolerateTranslators()
followTheme()
ignoreComposedKeys()

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <AuthProvider>
      <Router />
    </AuthProvider>
  </StrictMode>,
)
