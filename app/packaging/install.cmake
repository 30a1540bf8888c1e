# What is installed, by a package or by cmake --install. The program is called warpchat there, since ppp has a chat.
# libcuda_emulator.so stays out: it is for developers, who have a checkout.
include(GNUInstallDirs)
if(WARPCHAT_PORTABLE)
  set(program_folder ".")  # its rpath is lib/ beside it
  install(FILES LICENSE CHANGELOG.md DESTINATION .)
else()
  set(program_folder ${CMAKE_INSTALL_BINDIR})
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
endif()
install(PROGRAMS $<TARGET_FILE:chat> DESTINATION ${program_folder} RENAME warpchat)
if(WARPCHAT_GUI)
  install(FILES assets/warpchat.desktop DESTINATION share/applications)
  install(FILES assets/warpchat.svg DESTINATION share/icons/hicolor/scalable/apps)
endif()
find_program(WARPCHAT_GZIP gzip REQUIRED)
configure_file(app/packaging/install_pages.cmake.in app/install_pages.cmake @ONLY)
install(SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/app/install_pages.cmake)

set(CPACK_PACKAGE_NAME warpchat)
set(CPACK_PACKAGE_CONTACT "Warpchat maintainers <maintainers@warpchat.invalid>")
set(CPACK_PACKAGE_VENDOR "Warpchat maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "chat with language models in GGUF files")
set(CPACK_PACKAGE_DESCRIPTION
    "Warpchat answers with a language model on this machine, in a terminal, in a
window or in a script. It reads GGUF files of the Llama and Qwen families and
computes on the CPU, or on an NVIDIA GPU whose kernels it writes itself. It
stores conversations, and can ask OpenAI-compatible servers, too.")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
if(WARPCHAT_PORTABLE)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_FILE_NAME warpchat-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
else()
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  # What the program opens or starts at run time: pdftotext, libsecret, libcuda, fonts, and certificates of servers.
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, fonts-noto-core, fonts-noto-color-emoji, fonts-jetbrains-mono, \
fonts-texgyre-math, libsecret-1-0, poppler-utils")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "fonts-inter, fonts-noto-cjk, gnome-keyring, libcuda1")
  set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/app/packaging/postinst
                                         ${CMAKE_CURRENT_SOURCE_DIR}/app/packaging/prerm)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
include(CPack)
