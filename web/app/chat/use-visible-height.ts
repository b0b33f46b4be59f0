import { useEffect } from 'react'

const PROPERTY = '--visible-height'

/**
 * Sets the page's height to the visible height. Browsers without `interactive-widget=resizes-content` put the on-screen
 * keyboard over the page; only the visual viewport reports the rest.
 */
export function useVisibleHeight(): void {
  useEffect(() => {
    const { visualViewport: viewport } = window
    if (viewport === null) return
    const { style } = document.documentElement
    const follow = (): void => {
      // Zooming in also shrinks the viewport.
      const isCovered = viewport.scale === 1 && viewport.height < window.innerHeight
      if (!isCovered) return void style.removeProperty(PROPERTY)
      style.setProperty(PROPERTY, `${viewport.height}px`)
      // The browser has scrolled the box into view, which the new height makes unnecessary.
      window.scrollTo(0, 0)
    }
    follow()
    viewport.addEventListener('resize', follow)
    return () => {
      viewport.removeEventListener('resize', follow)
      style.removeProperty(PROPERTY)
    }
  }, [])
}
