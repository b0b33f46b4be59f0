import { useEffect, useState, type JSX } from 'react'
import { changePageSettings, usePageSettings } from '#web/data/settings.ts'
import { Section } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'

/** Languages that transcription models support well (ISO 639-1). */
const LANGUAGES = [
  'ar', 'cs', 'da', 'de', 'el', 'en', 'es', 'fi', 'fr', 'he', 'hi', 'hu', 'id', 'it', 'ja', 'ko', 'nl', 'no', 'pl', 'pt',
  'ro', 'ru', 'sv', 'th', 'tr', 'uk', 'vi', 'zh',
] // prettier-ignore

const names = new Intl.DisplayNames(['en'], { type: 'language' })

const SPOKEN = LANGUAGES.map((value) => ({ value, label: names.of(value) ?? value })).toSorted((one, other) =>
  one.label.localeCompare(other.label),
)

/** The browser's voices, which some browsers load late; null if it has none. */
function useVoices(): SpeechSynthesisVoice[] | null {
  const [voices, setVoices] = useState(() => ('speechSynthesis' in window ? speechSynthesis.getVoices() : null))
  useEffect(() => {
    if (!('speechSynthesis' in window)) return
    const update = (): void => setVoices(speechSynthesis.getVoices())
    speechSynthesis.addEventListener('voiceschanged', update)
    return () => speechSynthesis.removeEventListener('voiceschanged', update)
  }, [])
  return voices
}

export function VoiceSection(): JSX.Element {
  const { spokenLanguage, voiceName } = usePageSettings()
  const voices = useVoices()
  return (
    <Section title="Voice">
      <SelectField
        label="Language you speak"
        value={spokenLanguage ?? ''}
        options={[{ value: '', label: 'Found out by itself' }, ...SPOKEN]}
        onChange={(value) => changePageSettings({ spokenLanguage: value === '' ? null : value })}
      />
      {voices !== null && (
        <SelectField
          label="Voice that reads answers aloud"
          value={voiceName ?? ''}
          options={[
            { value: '', label: 'As the browser chooses' },
            ...voices.map(({ name, lang }) => ({ value: name, label: `${name} (${lang})` })),
          ]}
          onChange={(value) => changePageSettings({ voiceName: value === '' ? null : value })}
        />
      )}
    </Section>
  )
}
