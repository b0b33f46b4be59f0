import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { NewToolServer } from '#contract/tool-server.ts'
import { connectToolServer } from '#web/data/tool-servers.ts'
import { TextField } from '#web/ui/text-field.tsx'
import { InlineForm } from '#web/ui/inline-form.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { formText } from '#web/ui/form-text.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import styles from './connections.module.css'

const BY_ADDRESS = ''

function serverOf(command: string, form: FormData): NewToolServer {
  const name = formText(form, 'name')
  if (command !== BY_ADDRESS) return { name, command }
  const token = formText(form, 'token')
  return { name, url: formText(form, 'url'), ...(token === '' ? {} : { token }) }
}

export function ToolServerForm({ commands, onDone }: { commands: readonly string[]; onDone: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const [command, setCommand] = useState(BY_ADDRESS)
  const { busy, errorMessage, run, clearError } = useAttempt()
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const given = serverOf(command, new FormData(form))
    if (await run(() => connectToolServer(queryClient, given))) onDone()
  }
  return (
    <InlineForm
      label="Add a tool server"
      className={styles.form}
      errorMessage={errorMessage}
      busy={busy}
      saving="Asking for its tools..."
      onCancel={onDone}
      onInput={clearError}
      onSubmit={submit}
    >
      {commands.length > 0 && (
        <SelectField
          label="Kind"
          value={command}
          options={[
            { value: BY_ADDRESS, label: 'A server with an address' },
            ...commands.map((known) => ({ value: known, label: known })),
          ]}
          onChange={setCommand}
        />
      )}
      <TextField
        label="Name"
        name="name"
        required
        maxLength={24}
        pattern="[a-z0-9][a-z0-9\-]*"
        title="Small letters, digits and hyphens"
        placeholder="my-tools"
      />
      {command === BY_ADDRESS && (
        <>
          <TextField label="Address" name="url" type="url" required placeholder="https://tools.example.org/mcp" />
          <TextField label="Token (if it wants one)" name="token" type="password" autoComplete="off" />
        </>
      )}
    </InlineForm>
  )
}
