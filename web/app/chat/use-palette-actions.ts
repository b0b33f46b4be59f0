import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  Contrast,
  Cpu,
  Download,
  FileText,
  FileUp,
  Keyboard,
  LogOut,
  MessageSquare,
  Moon,
  Plus,
  Printer,
  Settings,
  SquarePen,
  Sun,
  Users,
  Wrench,
} from 'lucide-react'
import { useSpace } from '#web/data/current-space.ts'
import { modelsQuery, offeredIn, useAvailability } from '#web/data/models.ts'
import { selectModel, useSelectedModel } from '#web/data/selected-model.ts'
import { setShowToolMessages, setTheme, usePageSettings } from '#web/data/settings.ts'
import { useKnownSpaces } from '#web/data/spaces/known-spaces.ts'
import { useSignOut } from '#web/features/account/use-sign-out.ts'
import type { PaletteAction } from '#web/features/palette/palette-action.ts'
import type { Navigation } from './navigation.tsx'
import { saveConversation } from './save-conversation.ts'
import { showShortcuts } from './shortcut-list.tsx'
import { useRouteState } from './use-route-state.ts'

function useModelActions(): PaletteAction[] {
  const { data: models = [] } = useQuery(modelsQuery)
  const { data: availability = [] } = useAvailability()
  const { identifier: selected, given } = useSelectedModel()
  const usable = new Set(availability.filter((row) => row.available).map((row) => row.model_identifier))
  return offeredIn(useSpace(), given === null ? models : [])
    .filter((model) => usable.has(model.model_identifier) && model.model_identifier !== selected)
    .map((model) => ({
      id: `model:${model.id}`,
      label: `Use ${model.name}`,
      keywords: `model ${model.provider}`,
      rare: true,
      Icon: Cpu,
      run: () => selectModel(model),
    }))
}

function useSpaceActions({ openSpace, newSpace }: Navigation): PaletteAction[] {
  const current = useSpace()
  const spaces = useKnownSpaces((state) => state.spaces)
  const places = [{ id: null, name: 'Personal' }, ...spaces]
  return [
    ...places
      .filter(({ id }) => id !== current)
      .map(({ id, name }) => ({
        id: `space:${id ?? 'personal'}`,
        label: `Go to ${name}`,
        keywords: 'space switch open',
        rare: true,
        Icon: Users,
        run: () => openSpace(id),
      })),
    { id: 'space', label: 'New space', keywords: 'project room shared', Icon: Plus, run: newSpace },
  ]
}

export function usePaletteActions(navigation: Navigation): PaletteAction[] {
  const { newChat, openPanel, print } = navigation
  const spaces = useSpaceActions(navigation)
  const { showToolMessages, theme } = usePageSettings()
  const models = useModelActions()
  const queryClient = useQueryClient()
  const { chatId } = useRouteState()
  const signOut = useSignOut()
  const themes: PaletteAction[] = [
    { id: 'dark', label: 'Use the dark theme', Icon: Moon, run: () => setTheme('dark') },
    { id: 'light', label: 'Use the light theme', Icon: Sun, run: () => setTheme('light') },
    { id: 'system', label: 'Follow the theme of the system', Icon: Contrast, run: () => setTheme('system') },
  ]
  return [
    { id: 'new', label: 'New chat', keywords: 'conversation start', Icon: SquarePen, run: newChat },
    {
      id: 'upload',
      label: 'Upload documents',
      keywords: 'files add pdf',
      Icon: FileUp,
      run: () => openPanel('files'),
    },
    { id: 'print', label: 'Print', keywords: 'paper pdf save', Icon: Printer, run: () => print(null) },
    ...(chatId === null
      ? []
      : [
          {
            id: 'markdown',
            label: 'Save as Markdown',
            keywords: 'download export conversation file',
            Icon: Download,
            run: () => void saveConversation(chatId, queryClient),
          },
        ]),
    ...themes
      .filter(({ id }) => id !== theme)
      .map((action) => ({ ...action, keywords: 'appearance colours mode', rare: true })),
    {
      id: 'tools',
      label: showToolMessages ? 'Hide tool messages' : 'Show tool messages',
      Icon: Wrench,
      run: () => setShowToolMessages(!showToolMessages),
    },
    ...spaces,
    ...models,
    {
      id: 'chat',
      label: 'Open chat history',
      keywords: 'tab conversations',
      Icon: MessageSquare,
      run: () => openPanel('chat'),
    },
    {
      id: 'files',
      label: 'Open files',
      keywords: 'tab documents library',
      Icon: FileText,
      run: () => openPanel('files'),
    },
    {
      id: 'users',
      label: 'Open users',
      keywords: 'tab account profile security',
      Icon: Users,
      run: () => openPanel('users'),
    },
    {
      id: 'settings',
      label: 'Open settings',
      keywords: 'tab preferences',
      Icon: Settings,
      run: () => openPanel('settings'),
    },
    {
      id: 'shortcuts',
      label: 'Keyboard shortcuts',
      keywords: 'keys help',
      rare: true,
      Icon: Keyboard,
      run: showShortcuts,
    },
    { id: 'out', label: 'Sign out', keywords: 'log out leave', Icon: LogOut, run: signOut },
  ]
}
