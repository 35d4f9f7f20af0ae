# Not run.  ports/costate/portfile.cmake of vcpkg
vcpkg_download_distfile(archive
  URLS "@URL@"
  FILENAME "costate-@VERSION@.tar.xz"
  SHA512 @SHA512@)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")
vcpkg_configure_meson(
  SOURCE_PATH "${source}"
  OPTIONS -Dpython=none -Dlapack=builtin -Dumfpack=disabled -Dklu=disabled -Dsuperlu=disabled -Dpetsc=disabled)
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(PACKAGE_NAME costate CONFIG_PATH lib/cmake/costate)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/bin" "${CURRENT_PACKAGES_DIR}/debug/bin")      # costate-model needs Python
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
