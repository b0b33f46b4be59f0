import { apiErrorMessage } from '#web/data/client.ts'
import { refusalMessage } from '#web/data/refusal.ts'
import { toast } from '#web/ui/toast.tsx'

/** Shows the server's sentence, or ours where it gave none. */
export function reportRefusal(error: unknown, description: string): void {
  console.error(error)
  toast({
    title: 'Error',
    description: refusalMessage(error) ?? apiErrorMessage(error) ?? description,
    variant: 'destructive',
  })
}
