// Command webpictures takes the pictures of the web console for docs/ with a Chromium:
//
//	webpictures CHROMIUM URL DIR
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromedp/chromedp"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: webpictures CHROMIUM URL DIR")
		os.Exit(2)
	}
	if err := takePagePictures(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "webpictures:", err)
		os.Exit(1)
	}
}

// takePagePictures logs in at a controller of the lab and writes a picture of each page.
func takePagePictures(browser, at, dir string) error {
	allocated, end := chromedp.NewExecAllocator(context.Background(), append(
		slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(browser),
		chromedp.NoSandbox,
	)...)
	defer end()
	// of events that it does not know
	page, closed := chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {}))
	defer closed()
	page, cancel := context.WithTimeout(page, time.Minute)
	defer cancel()
	steps := chromedp.Tasks{chromedp.EmulateViewport(1280, 900), chromedp.Navigate(at + "/"), chromedp.WaitVisible(`.login`), chromedp.SetValue(`input[name=user]`, "admin"),
		chromedp.SetValue(`input[name=password]`, "admin"), chromedp.Click(`.login button`), chromedp.WaitVisible(`header nav`)}
	pictures := map[string][]byte{}
	for name, path := range map[string]string{
		"map":      "/#/map",
		"explorer": "/#/api/POST%20%2Frestconf%2Foperations%2Fvlan%3Aadd-vlan-and-set-ports",
	} {
		// the map is drawn
		steps = append(steps, chromedp.Navigate(at+path), chromedp.WaitVisible(`main h1`), chromedp.WaitNotPresent(`.skeleton`), chromedp.Sleep(time.Second),
			chromedp.ActionFunc(func(ctx context.Context) error {
				var png []byte
				err := chromedp.CaptureScreenshot(&png).Do(ctx)
				pictures[name] = png
				return err
			}))
	}
	if err := chromedp.Run(page, steps); err != nil {
		return fmt.Errorf("the web pages: %w", err)
	}
	for name, png := range pictures {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
			return err
		}
	}
	return nil
}
