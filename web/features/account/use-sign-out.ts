import { useUser } from '#web/data/auth/auth-context.tsx'
import { clearDrafts } from '#web/data/drafts.ts'
import { deleteRecordings } from '#web/data/recordings.ts'
import { signOut } from '#web/data/auth/session.ts'
import { errorMessageOr } from '#web/lib/format/error-message.ts'
import { toast } from '#web/ui/toast.tsx'

/** Signs out and deletes drafts, recordings and unsent files; the auth gate then leaves the page. */
export function useSignOut(): () => void {
  const { id } = useUser()
  const leave = async (): Promise<void> => {
    try {
      // Without its code nothing was stored by this page.
      const unsent = await import('#web/data/documents/unsent-files.ts').catch((error: unknown) => {
        console.error(error)
        return null
      })
      const { error } = await signOut()
      if (error !== null) throw error
      clearDrafts(id)
      deleteRecordings(id)
      unsent?.deleteUnsentFiles(id)
    } catch (error) {
      console.error(error)
      toast({
        title: 'Error signing out',
        description: errorMessageOr(error, 'An error occurred while signing out.'),
        variant: 'destructive',
      })
    }
  }
  return () => void leave()
}
