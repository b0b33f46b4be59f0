import { signOut } from '#web/data/session.ts'
import { toast } from '#web/ui/toast.tsx'

/** Signs out; the gate leaves the page once the session is gone. */
export function useSignOut(): () => void {
  const leave = async (): Promise<void> => {
    try {
      const { error } = await signOut()
      if (error !== null) throw error
    } catch (error) {
      console.error(error)
      toast({
        title: 'Error signing out',
        description: (error instanceof Error && error.message) || 'An error occurred while signing out.',
        variant: 'destructive',
      })
    }
  }
  return () => void leave()
}
